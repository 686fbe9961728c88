"""The user of this process, who may have neither a name nor a home: in a container, say."""

from __future__ import annotations

import getpass
import os
from pathlib import Path

from ndblab.error import LabError

NEXT_STEP = "Set XDG_CACHE_HOME to a folder that you can write to."


def name() -> str:
    """Return the user's name, or the id of a user without one."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # From Python 3.13 on an OSError
        return str(os.getuid())


def cache() -> Path:
    """Return the user's cache folder: `$XDG_CACHE_HOME`, else `~/.cache`.

    Raises
    ------
    LabError
        If neither is known.
    """
    try:
        place = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    except RuntimeError:
        raise LabError(
            "This user has no home, so the lab has no folder for what it installs and runs",
            found=f"HOME is not set, and user id {os.getuid()} has no entry in /etc/passwd",
            next_step=NEXT_STEP,
        ) from None
    return Path(place).expanduser().absolute()
