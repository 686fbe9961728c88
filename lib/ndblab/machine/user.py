"""The user of this process, who may have neither a name nor a home: in a container, say."""

from __future__ import annotations

import getpass
import os
import re
from pathlib import Path

from ndblab.error import LabError

_FOR_OTHERS = re.compile(
    r"PYTEST_(ADDOPTS|PLUGINS)|(GNUMAKE|MAKE|M|C|CXX|CPP|LD|GO)FLAGS|NINJAFLAGS"
    r"|CMAKE_(GENERATOR|TOOLCHAIN_FILE|BUILD_TYPE)|GIT_(DIR|WORK_TREE|INDEX_FILE|NAMESPACE)"
    r"|MYSQL_(HOST|HOME|TCP_PORT|UNIX_PORT|GROUP_SUFFIX)|MYSQLX_(TCP|UNIX)_PORT|MARIADB_HOME"
    r"|LIBMYSQL_\w+|NDB_CONNECTSTRING|UMASK(_DIR)?|VIRTUAL_ENV"
)
"""Variables that set up pytest, compilers, git, IPython and MySQL for a user's other projects."""
NEXT_STEP = "Set XDG_CACHE_HOME to a folder that you can write to."


def name() -> str:
    """Return the user's name, or the id of a user without one."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # From Python 3.13 on an OSError
        return str(os.getuid())


def forget_settings() -> None:
    """Remove from this process what the user has set for the programs of other projects.

    With PYTEST_ADDOPTS=--collect-only, say, all tests of the lab would pass without having run, and
    IPython would take the packages of another VIRTUAL_ENV before ours. With umask 000, mysqld would
    skip the lab's my.cnf, because every user could write it.
    """
    os.umask(os.umask(0o077) | 0o002)
    for name in [name for name in os.environ if _FOR_OTHERS.fullmatch(name)]:
        del os.environ[name]


def cache() -> Path:
    """Return the user's cache folder: `$XDG_CACHE_HOME`, else `~/.cache`.

    LabError if neither is known.
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
