"""Every figure of the lab: its question, what it is drawn from, and what draws it.

Adding a figure means adding a module in `brief/`, `neighbours/` or `lab/` and its entry here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ndblab.experiments.api_ceiling import figure as interfaces
from ndblab.experiments.availability import figure as faults
from ndblab.experiments.bulk_load import figure as loads
from ndblab.experiments.capacity import (
    figure as predictions,
)
from ndblab.experiments.capacity import (
    figure_bottlenecks as bottlenecks,
)
from ndblab.experiments.capacity import (
    figure_bounds as bounds,
)
from ndblab.experiments.capacity import (
    figure_brief_predicted as brief_predicted,
)
from ndblab.experiments.capacity import (
    figure_errors as prediction_errors,
)
from ndblab.experiments.connection_pool import figure as connection_pools
from ndblab.experiments.dump import figure as dump
from ndblab.experiments.locking_reads import figure as locks
from ndblab.experiments.network_cost import figure as network_cost
from ndblab.experiments.read_locality import figure as read_locality
from ndblab.experiments.read_write import figure as read_write
from ndblab.experiments.scaling import (
    figure_4_one_server,
    figure_8_seconds,
    figures_5_9_threads,
    figures_6_7_clients,
)
from ndblab.experiments.stability import figure as figure_1_hour
from ndblab.experiments.stability import figure_long_run as long_run
from ndblab.experiments.the_brief import figure_2_cluster_box, figure_3_cpu_allocation
from ndblab.experiments.the_lab_itself import figure as variance
from ndblab.experiments.tpc_c import figure as tpc_c
from ndblab.experiments.tpc_h import figure as tpc_h
from ndblab.figures import contrast, sheet
from ndblab.figures import variants as transporters

DATASET, FORECAST, PLAN = "dataset", "forecast", "plan"


@dataclass(frozen=True)
class Entry:
    """A figure: its question, how it is painted and described, and what it is drawn from.

    `paint` draws on an empty sheet and returns notes for the caption; `describe` returns sentences.
    `tables` are those it needs of its `source`. With `one_workload` it shows the runs of only one.
    """

    question: str
    paint: Callable[..., list[str]]
    describe: Callable[..., list[str]]
    tables: tuple[str, ...] = ("runs",)
    source: str = DATASET
    height_in: float = sheet.HEIGHT_IN
    one_workload: bool = False


def _brief(question: str, module, *tables: str, of=None, height_in=sheet.HEIGHT_IN) -> Entry:
    """Describe a figure of the brief; `of` tells two figures that one module draws apart."""
    paint, words = module.paint, module.describe
    if of is not None:
        paint, words = partial(paint, of), partial(words, of)
    return Entry(question, paint, words, ("runs", *tables), DATASET, height_in, True)


def _compared(question: str, kinds: transporters.Comparison) -> Entry:
    paint, words = partial(transporters.paint, kinds), partial(transporters.describe, kinds)
    return Entry(question, paint, words, height_in=7.4)


def _forecast(question: str, module, *tables: str, height_in: float = sheet.HEIGHT_IN) -> Entry:
    return Entry(question, module.paint, module.describe, tables, FORECAST, height_in)


FIGURES = {
    "1": _brief(
        "How stable are throughput and latency over a long run?",
        figure_1_hour, "intervals", height_in=6.6,
    ),
    "2": Entry(
        "What runs where, and how is it connected?",
        figure_2_cluster_box.paint, figure_2_cluster_box.describe, (), PLAN, 6.5,
    ),
    "3": Entry(
        "Which logical CPUs does each process get?",
        figure_3_cpu_allocation.paint, figure_3_cpu_allocation.describe, (), PLAN,
    ),
    "4": _brief(
        "What limits one MySQL server, and how much CPU does it use?",
        figure_4_one_server, "processes",
    ),
    "5": _brief(
        "Which NDB thread is busiest under one MySQL server?",
        figures_5_9_threads, "ndb_threads", "slices", of=False,
    ),
    "6": _brief(
        "How far does doubling the MySQL servers raise throughput?",
        figures_6_7_clients, of=figures_6_7_clients.SIX,
    ),
    "7": _brief(
        "Can twice the MySQL servers serve twice the clients at the same latency?",
        figures_6_7_clients, of=figures_6_7_clients.SEVEN,
    ),
    "8": _brief(
        "How steady are throughput and latency, second by second?",
        figure_8_seconds, "intervals", height_in=6.6,
    ),
    "9": _brief(
        "Which NDB thread is the bottleneck at peak throughput?",
        figures_5_9_threads, "ndb_threads", "slices", of=True,
    ),
    "shm-vs-tcp": _compared(
        "How much faster are shared-memory transporters than TCP?", transporters.TRANSPORTERS
    ),
    "spinning": _compared(
        "How much throughput does spinning gain?", transporters.SPINNING
    ),
    "thread-balance": _compared(
        "Do balanced NDB threads raise throughput?", transporters.THREADS
    ),
    "tls": _compared("How much throughput does TLS on NDB's links cost?", transporters.TLS),
    "tls-contrast": Entry(
        "How certain is the cost of TLS?", contrast.paint, contrast.describe, ("slices",)
    ),
    "connection-pool": Entry(
        "Does a MySQL server need more than one connection to the cluster?",
        connection_pools.paint, connection_pools.describe, ("runs", "processes"),
        height_in=9.4,
    ),
    "faults": Entry(
        "What do clients see when a part of the cluster fails?",
        faults.paint, faults.describe, ("outages", "intervals", "events"),
    ),
    "network-faults": Entry(
        "What do clients see when the network or a host fails?",
        faults.paint, faults.describe, ("outages", "intervals", "events"),
    ),
    "capacity": _forecast(
        "How well does a one-server sweep predict many servers?",
        predictions, "points", "predicted", height_in=6.8,
    ),
    "bounds": _forecast(
        "Which bounds limit one MySQL server?", bounds, "bounds", "balance", "alone"
    ),
    "bottlenecks": _forecast(
        "Which resource saturates first as MySQL servers are added?",
        bottlenecks, "use", "measured_use",
    ),
    "errors": _forecast(
        "How large are the prediction errors, and would a simpler method do?",
        prediction_errors, "errors", "verdicts", height_in=6.0,
    ),
    "brief-predicted": _forecast(
        "What does the model predict for the brief's own server?",
        brief_predicted, "brief_predicted", height_in=6.0,
    ),
    "read-write": Entry(
        "What do read/write transactions, filters and IN lists carry?",
        read_write.paint, read_write.describe, ("runs", "slices", "processes"), height_in=9.6,
    ),
    "contrast": Entry(
        "What does each contrast show, and after how many blocks?",
        contrast.paint, contrast.describe, ("slices",),
    ),
    "long-run": Entry(
        "How much throughput do local checkpoints take from a long run?",
        long_run.paint, long_run.describe, ("runs", "intervals", "events"), height_in=6.8,
    ),
    "engines": Entry(
        "How do two engines compare, start by start?",
        contrast.paint, contrast.describe, ("slices",),
    ),
    "variance": Entry(
        "Where does the variance of a measurement come from?",
        variance.paint, variance.describe, ("slices",), height_in=4.6,
    ),
    "tpc-c": Entry(
        "What do transactions gain from partitioning and more servers?",
        tpc_c.paint, tpc_c.describe,
        ("runs", "slices", "processes", "transactions", "aborts", "locality"), height_in=10.6,
    ),
    "tpc-h": Entry(
        "Which queries of TPC-H gain from pushed joins?",
        tpc_h.paint, tpc_h.describe, ("slices", "runs", "pushed"), height_in=tpc_h.HEIGHT_IN,
    ),
    "api-ceiling": Entry(
        "What do key lookups cost through SQL, and through the NDB API?",
        interfaces.paint, interfaces.describe, ("runs", "processes", "slices"),
    ),
    "bulk-load": Entry(
        "How fast are rows loaded, and does the redo log matter?",
        loads.paint, loads.describe, ("runs", "processes", "events", "slices"), height_in=7.6,
    ),
    "read-locality": Entry(
        "How far do reads stay on the data node that is near?",
        read_locality.paint, read_locality.describe, ("runs", "reads"), height_in=11.2,
    ),
    "network-cost": Entry(
        "What does the network between clients, servers and data nodes cost?",
        network_cost.paint, network_cost.describe, ("runs", "processes", "slices"),
        height_in=network_cost.HEIGHT_IN,
    ),
    "dump": Entry(
        "How long does a dump take, and what does compression save?",
        dump.paint, dump.describe, ("runs", "dumps"), height_in=4.6,
    ),
    "locks": Entry(
        "Which record locks does a statement take on the table it reads?",
        locks.paint, locks.describe, ("locks",), height_in=6.8,
    ),
}  # fmt: skip
"""By the number of the brief's figure, or by the name of one of the lab's own."""
