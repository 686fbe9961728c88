"""Under which load the sides are compared.

A workload of the user's own gets its name here, too.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from ndblab import discovery
from ndblab.error import LabError
from ndblab.workloads import registry, sysbench

if TYPE_CHECKING:
    from ndblab.install import Binaries


def resolve(given: str, binaries: Binaries) -> str:
    """Return the name of the workload that the user means: one of sysbench's, or of the lab's own.

    Raises
    ------
    LabError
        If there is no such workload, or it ends by itself and has no rate.
    """
    if registry.ends_by_itself(given):
        raise LabError(
            f"{given} cannot be compared: it ends by itself and has no rate of queries",
            next_step="Choose another --workload.",
        )
    if registry.find(given) is not sysbench or discovery.file(f"{given}.lua"):
        return given
    scripts = binaries.sysbench_scripts
    if scripts is None or (scripts / f"{given}.lua").is_file():
        return given
    names = sorted(path.stem for path in scripts.glob("oltp_*.lua") if path.stem != "oltp_common")
    close = difflib.get_close_matches(given, names, 3)
    raise LabError(
        f"There is no workload called {given}",
        expected=f"perhaps {' or '.join(close)}" if close else ", ".join(names),
        next_step="Choose one with --workload.",
    )
