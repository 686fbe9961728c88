"""Install Debian packages that only tests need, one worker of pytest-xdist at a time."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path

from ndblab.install import requirements


def install(packages: list[str], log: Path) -> None:
    """Install packages as root; wait while another worker does, since apt would fail."""
    with Path(tempfile.gettempdir(), f"ndblab-apt-{os.getuid()}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        requirements.install_packages(packages, log)
