"""The load generators by workload.

In: the workload of a point. Out: the module that runs it. Adding a generator is adding an entry.
"""

from __future__ import annotations

from ndblab.experiments.api_ceiling import load as ndb_api
from ndblab.experiments.availability import load as checked_writes
from ndblab.experiments.bulk_load import load as bulk_load
from ndblab.experiments.dump import load as dump
from ndblab.experiments.locking_reads import load as locking_reads
from ndblab.experiments.tpc_c import load as tpc_c
from ndblab.experiments.tpc_h import load as tpc_h
from ndblab.planning import workload
from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import LoadGenerator

_GENERATORS: dict[str, LoadGenerator] = {
    workload.BULK_LOAD: bulk_load,
    workload.CHECKED_WRITES: checked_writes,
    workload.DUMP: dump,
    workload.LOCKING_READS: locking_reads,
    workload.NDB_API: ndb_api,
    workload.TPC_C: tpc_c,
}
_BY_PREFIX: dict[str, LoadGenerator] = {workload.TPC_H: tpc_h}


def find(name: str) -> LoadGenerator:
    """Find the load generator of a workload; any other name is that of a sysbench script."""
    for prefix, generator in _BY_PREFIX.items():
        if name.startswith(prefix):
            return generator
    return _GENERATORS.get(name, sysbench)
