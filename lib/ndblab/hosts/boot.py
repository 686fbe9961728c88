"""The first code that runs on another host: loads the agent, which writes nothing to its disk.

It reads a line of JSON, then as many bytes as that says: a zip archive of modules, and compiled
modules. If the agent cannot run here, it prints one line that says why. This file is sent as text
and executed by any Python 3.
"""

import importlib.machinery
import importlib.util
import json
import os
import platform
import sys

START = "import sys; exec(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())))"
OPTIONS = ("-Iu", "-Xutf8", "-c", START)
"""Options of the Python that reads this file from its input, after the file's length."""
SESSIONS, HANDED_OVER = "sessions", "ndblab streams:"
STREAMS = ("stdin", "stdout", "stderr")
HAND_OVER = (
    "import os, socket, sys; os.chdir(sys.argv[1]); s = socket.socket(socket.AF_UNIX); "
    f"s.connect('{SESSIONS}'); [os.write(int(n), b'{HANDED_OVER}') for n in sys.argv[3:]]; "
    "socket.send_fds(s, [sys.argv[2].encode()], [0, 1, 2]); os.closerange(0, 3); s.recv(1)"
)
"""Program of a further SSH session. It hands the session's streams to the agent in a folder, under
a number, and waits until the agent no longer needs them. In the output streams, it first marks the
end of what a shell has printed."""


def in_memory(data):
    """Return a path to a file in memory, which ends with this process (memfd_create(2))."""
    handle = os.memfd_create("ndblab")
    with os.fdopen(os.dup(handle), "wb") as file:
        file.write(data)
    return f"/proc/self/fd/{handle}"


def load(name, path):
    """Import a compiled module before the package that it is a part of."""
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    sys.modules[name] = module


def boot(stream):
    """Load what the lab has sent, and become its agent."""
    order = json.loads(stream.readline())
    archive = stream.read(order["archive_bytes"])
    compiled = {name: stream.read(size) for name, size in order["compiled_bytes"].items()}
    answer = {"machine": platform.machine(), "python": platform.python_version()}
    try:
        if answer["machine"] == order["machine"]:
            sys.path.insert(0, in_memory(archive))
            for name, data in compiled.items():
                load(name, in_memory(data))
            from ndblab.hosts import agent
    except (ImportError, OSError) as error:
        answer["problem"] = str(error)
    if answer["machine"] != order["machine"] or "problem" in answer:
        print(order["greeting"] + json.dumps(answer), flush=True)
        return
    agent.main(order, answer, stream)


if __name__ == "__main__":
    boot(sys.stdin.buffer)
