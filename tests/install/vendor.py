"""A vendor on this machine: keys made for a test, signatures, and a server with faults."""

from __future__ import annotations

import contextlib
import http.server
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ndblab.error import LabError


class Signer:
    """A key pair of GnuPG, in a folder of its own."""

    def __init__(self, gpg: str, home: str, name: str) -> None:
        self._argv = [gpg, "--homedir", home, "--batch", "--yes", "--quiet", "--armor"]
        self._argv += ["--pinentry-mode", "loopback", "--passphrase", ""]
        self._run("--faked-system-time", "20200101T000000", "--quick-generate-key", name,
                  "ed25519", "sign", "1y")  # fmt: skip
        listed = self._run("--list-keys", "--with-colons")
        self.fingerprint = re.search(r"^fpr:+(\w+):", listed, re.MULTILINE)[1]
        self.keys = self._run("--export")

    def sign(self, file: Path) -> bytes:
        """Sign on a day on which the key was valid; it has expired since, as old keys have."""
        made = file.with_name(f"{file.name}.asc")
        self._run("--faked-system-time", "20200601T000000", "-o", str(made), "--detach-sign",
                  str(file))  # fmt: skip
        signature = made.read_bytes()
        made.unlink()
        return signature

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([*self._argv, *arguments], capture_output=True, text=True, check=True)
        return done.stdout


@contextlib.contextmanager
def signer(name: str) -> Iterator[Signer]:
    """Make a key; the agent that GnuPG starts for it ends with it."""
    gpg = shutil.which("gpg")
    if gpg is None:
        raise LabError("gpg is not installed", next_step="Type: sudo apt-get install -y gpg")
    # Not below pytest's folder: the path of an agent's socket must be short.
    with tempfile.TemporaryDirectory(prefix="gpg-") as home:
        try:
            yield Signer(gpg, home, name)
        finally:
            subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)


@dataclass
class Server:
    """Files by their path, what was `asked` for (a path and a range), and how many bytes were sent.

    `cuts` are the bytes after which it hangs up, download by download; unless it `stays_up`, it is
    down after them. It may know no ranges, and say a wrong length.
    """

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    sent_bytes: int = 0
    cuts: list[int] = field(default_factory=list)
    stays_up: bool = True
    is_down: bool = False
    knows_ranges: bool = True
    said_length: int | None = None


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    """Serve on a port of this machine."""
    state = Server()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            span = self.headers["Range"]
            state.asked.append((self.path, span))
            content = state.files.get(self.path)
            if state.is_down or content is None:
                self.send_error(503 if state.is_down else 404)
                return
            begin, size = 0, len(content)
            if span and state.knows_ranges:
                begin = int(re.fullmatch(r"bytes=(\d+)-", span)[1])
            if begin and begin >= size:
                self.send_error(416)
                return
            self.send_response(206 if begin else 200)
            if begin:
                self.send_header("Content-Range", f"bytes {begin}-{size - 1}/{size}")
            self.send_header("Content-Length", str(state.said_length or size - begin))
            self.end_headers()
            sent = content[begin : begin + (self._cut() or size)]
            # Counted first: the client may be done before this thread runs again.
            state.sent_bytes += len(sent)
            self.wfile.write(sent)

        def _cut(self) -> int | None:
            if not state.cuts or self.path.endswith(".asc"):
                return None
            state.is_down = not state.stays_up and len(state.cuts) == 1
            return state.cuts.pop(0)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        state.url = f"http://127.0.0.1:{server.server_port}"
        yield state
        server.shutdown()
