"""The browser in which tests look at the report: one on PATH, or Debian's own.

In: PATH, and for root the system's apt. Out: the program's path, or a LabError with the command to
type. Only tests need it, so no command of the lab installs it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ndblab import install
from ndblab.error import LabError
from ndblab.install import requirements
from ndblab.machine import commands
from ndblab.measuring.prerequisites import BROWSERS

PACKAGE = "chromium"


def find() -> Path | None:
    """Find a browser of the Chromium family on PATH."""
    paths = (shutil.which(name) for name in BROWSERS)
    return next((Path(path) for path in paths if path), None)


def ensure(log: Path) -> Path:
    """Find a browser, or as root on Debian install the package of its release.

    Parameters
    ----------
    log : the file for the output of apt.

    Raises
    ------
    LabError
        If there is none and it cannot be installed by this user on this machine.
    """
    if (browser := find()) is not None:
        return browser
    # Elsewhere a package of this name may be something else, such as a Snap.
    if os.geteuid() != 0 or not install.has_debian():
        raise _none_here(f"none of {', '.join(BROWSERS)} on PATH")
    try:
        requirements.install_packages([PACKAGE], log)
    except commands.ChildFailed as failure:
        raise _none_here(str(failure.found)) from failure
    if (browser := find()) is None:
        raise _none_here(f"the package {PACKAGE} has no program of that name")
    return browser


def _none_here(found: str) -> LabError:
    return LabError(
        "There is no browser to look at the report with",
        found=found,
        expected="Chromium, or another browser made from it",
        next_step=requirements.package_manager().next_step([PACKAGE]),
    )
