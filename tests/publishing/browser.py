"""A headless Chromium for tests, driven through its DevTools pipe; it has no network.

It is one on PATH, or for root Debian's own. One process serves all pages: `open` loads one and
waits for it, `ask` evaluates JavaScript in it, and `complaints` and `requests` hold what the page
reported and loaded. The protocol: https://chromedevtools.github.io/devtools-protocol/.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

import system_packages
from ndblab import install
from ndblab.error import LabError
from ndblab.install import requirements
from ndblab.machine import commands
from ndblab.measuring.feasible import BROWSERS

PACKAGE = "chromium"
_TIMEOUT_S = 120
"""Far more than it takes: the machine may be busy with a measurement."""


class Browser:
    """One browser with one page; use it as a context manager."""

    def __init__(self, program: Path, profile: Path) -> None:
        options = [
            "--headless",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--no-first-run",
            "--disable-gpu",
            "--disable-extensions",
            "--disable-background-networking",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            # It sees our own files only; containers and root cannot have the sandbox.
            "--no-sandbox",
        ]
        # The protocol's two pipes are descriptors 3 and 4.
        self._process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null', "sh", str(program), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"HOME": str(profile)},
        )
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._loaded = False

    def __enter__(self) -> Browser:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            pipe.close()

    def open(self, url: str, width: int = 1280, dark: bool = False) -> None:
        """Load a page at a width in pixels, all of its pictures too; below 600 it is a phone."""
        self.complaints.clear()
        self.requests.clear()
        self._loaded = False
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **screen)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        answer = self.call("Page.navigate", url=url)
        assert "errorText" not in answer, f"{url}: {answer['errorText']}"
        while not self._loaded:
            self._hear()
        self.ask(
            "Promise.all([...document.images].map(i => {"
            "i.loading = 'eager'; return i.decode().catch(() => {})}))"
        )

    def ask(self, expression: str):
        """Evaluate JavaScript in the page and give its value; a promise is waited for."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def call(self, method: str, **parameters: object) -> dict:
        """Send one command of the DevTools protocol and give its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._process.stdin.write(json.dumps(message).encode() + b"\0")
        self._process.stdin.flush()
        while True:
            answer = self._hear()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def _hear(self) -> dict:
        deadline = time.monotonic() + _TIMEOUT_S
        while b"\0" not in self._buffer:
            ready, _, _ = select.select(
                [self._process.stdout], [], [], max(0, deadline - time.monotonic())
            )
            chunk = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
            assert chunk, "the browser ended" if ready else "the browser does not answer"
            self._buffer += chunk
        first, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(first)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, event: str | None, params: dict) -> None:
        if event == "Page.loadEventFired":
            self._loaded = True
        elif event == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"]["text"])
        elif event == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif event == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append(str(params["args"]))


def find() -> Path | None:
    """Find a browser of the Chromium family on PATH."""
    paths = (shutil.which(name) for name in BROWSERS)
    return next((Path(path) for path in paths if path), None)


def ensure(log: Path) -> Path:
    """Find a browser, or as root on Debian install the package of its release.

    LabError if there is none and it cannot be installed by this user on this machine.

    Parameters
    ----------
    log : the file for the output of apt.
    """
    if (browser := find()) is not None:
        return browser
    # Elsewhere a package of this name may be something else, such as a Snap.
    if os.geteuid() != 0 or not install.has_debian():
        raise _none_here(f"none of {', '.join(BROWSERS)} on PATH")
    try:
        system_packages.install([PACKAGE], log)
    except commands.ChildFailed as failure:
        raise _none_here(str(failure.found)) from failure
    if (browser := find()) is None:
        raise _none_here(f"the package {PACKAGE} has no program of that name")
    return browser


def _none_here(reason: str) -> LabError:
    return LabError(
        "There is no browser to look at the report with",
        found=reason,
        expected="Chromium, or another browser made from it",
        next_step=requirements.package_manager().next_step([PACKAGE]),
    )
