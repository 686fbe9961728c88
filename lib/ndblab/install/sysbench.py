"""Where sysbench comes from, for a cluster from anywhere: this machine, or Debian's packages.

In: PATH, the lab's cache, the package sources. Out: a `Sysbench`, or the one line that installs it.
"""

from __future__ import annotations

from pathlib import Path

from ndblab.install import discovery, requirements
from ndblab.install.binaries import Sysbench
from ndblab.install.debian import apt, packages
from ndblab.install.progress import Phases


def missing() -> list[str]:
    """Name sysbench if it is neither installed nor to be had from Debian's packages.

    Raises
    ------
    LabError : the only sysbench is unusable.
    """
    is_out_of_reach = discovery.find_sysbench() is None and apt.find_mirror() is None
    return [requirements.SYSBENCH] if is_out_of_reach else []


def require() -> None:
    """Refuse to begin an installation that would lack a sysbench in the end."""
    requirements.require("Measuring", missing())


def ensure(folder: Path, phases: Phases) -> Sysbench:
    """Find sysbench, or install it below the cache `folder`."""
    return discovery.find_sysbench() or packages.install_sysbench(folder, phases)
