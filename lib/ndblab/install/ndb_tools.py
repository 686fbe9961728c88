"""NDB's further programs, such as ndb_import, which not every NDB Cluster comes with.

In: an installation and a program's name. Out: its path and version. They stand beside the programs
of the cluster and have its version, or they are missing; it builds nothing.
"""

from __future__ import annotations

from pathlib import Path

from ndblab.error import LabError
from ndblab.install import binaries
from ndblab.install.binaries import Ndb
from ndblab.machine import commands

IMPORT, FLEX_ASYNCH, SIGN_KEYS = "ndb_import", "flexAsynch", "ndb_sign_keys"
TOOLS = {
    IMPORT: "bulk-load",
    FLEX_ASYNCH: "api-ceiling",
    SIGN_KEYS: "TLS between hosts (--hosts)",
}
"""The programs that the lab uses, and what for. flexAsynch is one of NDB's tests, and prints no
version."""

_NEXT_STEP = "Run: ./lab install --tools"


def missing(ndb: Ndb) -> list[str]:
    """Return the names of the tools that an installation lacks."""
    return [name for name in TOOLS if _beside(ndb, name) is None]


def lacks(*needed: str) -> str:
    """Say in one line which of these tools the installation in use lacks; nothing if none.

    Nothing either where none is installed yet: `./lab install` builds them with the cluster.
    """
    from ndblab.install import discovery

    ndb = discovery.find_ndb()
    names = [name for name in missing(ndb) if name in needed] if ndb else []
    return f"{' and '.join(names)} not installed ({_NEXT_STEP})" if names else ""


def find(ndb: Ndb, name: str) -> Path:
    """Return the path of a tool.

    Raises
    ------
    LabError
        If the installation lacks it.
    """
    if found := _beside(ndb, name):
        return found
    raise LabError(
        f"{name} is not installed",
        found=f"no {name} beside {ndb.ndbmtd}",
        expected=f"{name} of NDB {ndb.ndb_version}, which the workload runs",
        next_step=_NEXT_STEP,
    )


def version(ndb: Ndb, name: str) -> str:
    """Return the version of a tool.

    Raises
    ------
    LabError
        If it is missing, does not run, or is of another version than the cluster.
    """
    program = find(ndb, name)
    if name != FLEX_ASYNCH:
        text = commands.output([program, "--version"], what=f"{program} does not run")
        _, own = binaries.ndb_versions(text) or (None, "unknown")
        binaries.match_versions({"ndbmtd": ndb.ndb_version, name: own}, str(program.parent))
    return ndb.ndb_version


def _beside(ndb: Ndb, name: str) -> Path | None:
    places = (ndb.ndbmtd.parent / name, ndb.basedir / "bin" / name)
    return next((place for place in places if place.is_file()), None)
