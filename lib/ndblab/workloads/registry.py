"""The load generators by workload.

In: the workload of a point. Out: the module that runs it. Adding a generator is adding an entry.
"""

from __future__ import annotations

from ndblab.planning import workload
from ndblab.workloads import sysbench
from ndblab.workloads.bulk_load import generator as bulk_load
from ndblab.workloads.checked_writes import generator as checked_writes
from ndblab.workloads.dump import generator as dump
from ndblab.workloads.load_generator import LoadGenerator
from ndblab.workloads.locking_reads import generator as locking_reads
from ndblab.workloads.ndb_api import generator as ndb_api
from ndblab.workloads.tpc_c import generator as tpc_c
from ndblab.workloads.tpc_h import generator as tpc_h

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
