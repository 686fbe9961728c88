"""NDB's further programs, such as ndb_import, which not every NDB Cluster comes with.

They lie beside the programs of the cluster and have its version, or they are missing.
"""

from __future__ import annotations

from pathlib import Path

from ndblab.error import LabError
from ndblab.install import apt, binaries, discovery
from ndblab.install.binaries import Ndb
from ndblab.install.requirements import Tool
from ndblab.machine import commands

BUILT = ("ndb_import", "flexAsynch", "ndb_sign_keys")
"""What the lab builds with a data node, so that no later command has to compile again."""
_UNVERSIONED = ("flexAsynch",)
"""NDB's own tests print no version."""
_NEXT_STEP = "Run: ./lab install --tools"


def tool(name: str, use: str) -> Tool:
    """Return one of NDB's programs as a `Tool`, which the lab builds for its own NDB Cluster.

    `use` says what needs it.
    """

    def here() -> str:
        if (ndb := discovery.find_ndb()) is None:
            comes = name in BUILT and apt.find_mirror() is not None
            return "is built with NDB Cluster" if comes else ""
        return "" if missing(ndb, name) else f"{version(ndb, name)} ({find(ndb, name)})"

    def ensure() -> str:
        from ndblab import install

        install.add_tools(install.ensure(), (name,))
        return here()

    return Tool(name, use, here, lambda: lacks(name), ensure)


def missing(ndb: Ndb, *names: str) -> list[str]:
    """Return which of the programs, by default those that the lab builds, are not there."""
    return [name for name in names or BUILT if _beside(ndb, name) is None]


def lacks(name: str) -> str:
    """Say in one line that the installation in use lacks a tool; nothing if it has it.

    Nothing is lacking before an installation either: `./lab install` builds it with the cluster.
    """
    ndb = discovery.find_ndb()
    return f"{name} not installed ({_NEXT_STEP})" if ndb and missing(ndb, name) else ""


def find(ndb: Ndb, name: str) -> Path:
    """Return the path of a tool; LabError if the installation lacks it."""
    if program := _beside(ndb, name):
        return program
    raise LabError(
        f"{name} is not installed",
        found=f"no {name} beside {ndb.ndbmtd}",
        expected=f"{name} of NDB {ndb.ndb_version}, which the workload runs",
        next_step=_NEXT_STEP,
    )


def version(ndb: Ndb, name: str) -> str:
    """Return the version of a tool.

    LabError if it is missing, does not run, or is of another version than the cluster.
    """
    program = find(ndb, name)
    if name not in _UNVERSIONED:
        argv = [program, "--no-defaults", "--version"]
        text = commands.output(argv, what=f"{program} does not run")
        _, own = binaries.ndb_versions(text) or (None, "unknown")
        binaries.match_versions({"ndbmtd": ndb.ndb_version, name: own}, str(program.parent))
    return ndb.ndb_version


def _beside(ndb: Ndb, name: str) -> Path | None:
    places = (ndb.ndbmtd.parent / name, ndb.basedir / "bin" / name)
    return next((place for place in places if place.is_file()), None)
