"""The experiments of the lab's own: its model, its faults, its trustworthiness. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ndblab.design import grids
from ndblab.design import swept as comparisons
from ndblab.design.experiment import Experiment
from ndblab.design.variant import Variant
from ndblab.experiments.availability import fault
from ndblab.experiments.the_lab_itself import contrasts as self_contrasts
from ndblab.hosts import connected
from ndblab.hosts import roles as hosts
from ndblab.install import ndb_tools
from ndblab.planning import profile

_FAULT_SIZES: Mapping[str, Mapping[str, object]] = {
    "smoke": {"servers": (2,), "clients": (8,), "warmup_s": 0, "duration_s": 4},
    "quick": {"servers": (2,), "clients": (8,), "warmup_s": 0, "duration_s": 10},
    "brief": {"servers": (2,), "clients": (8,), "warmup_s": 0, "duration_s": 30, "repeats": 3},
}

EXPERIMENTS = (
    Experiment(
        "capacity-model",
        "How well does a one-server sweep predict many servers?",
        "05_capacity_model.ipynb",
        figures=("bounds", "capacity", "errors", "bottlenecks", "brief-predicted"),
        claims=(),
        reads=("single-server-scaling", "multi-server-scaling"),
    ),
    Experiment(
        "availability",
        "What do clients see when part of the cluster fails?",
        "06_availability.ipynb",
        figures=("faults",),
        claims=("A-node", "A-online", "A-separate"),
        grid=grids.every_fault,
        sizes=_FAULT_SIZES,
        variants=(Variant(), *(Variant(f.name, fault=f) for f in fault.FAULTS.values())),
        budget="shared",
    ),
    Experiment(
        "the-lab-itself",
        "How far can a measurement of this lab be trusted?",
        "08_the_lab_itself.ipynb",
        figures=("contrast", "variance"),
        claims=(),
        grid=grids.one_point,
        sizes={
            "smoke": {"servers": (4,), "clients": (32,)},
            "quick": {"servers": (4,), "clients": (32,)},
            "brief": {
                "servers": (4,), "clients": (32,), "repeats": 15, "warmup_s": 5,
                "duration_s": 30, "table_size": 10_000,
            },
        },
        contrasts=self_contrasts.the_lab_itself,
    ),
    Experiment(
        "tls",
        "What does TLS cost on NDB's own links?",
        "22_tls.ipynb",
        figures=("tls", "tls-contrast"),
        claims=(),
        grid=grids.every_variant_by_tcp,
        sizes={
            "smoke": {"servers": (1,), "clients": (2, 8)},
            "quick": {"servers": (2,), "clients": (2, 8, 32, 128), "repeats": 3},
            "brief": {"servers": (2,), "clients": profile.powers_of_two(1024), "repeats": 3},
        },
        shape={"transporter": "tcp"},
        variants=(Variant(), Variant(comparisons.TLS, {"tls": True})),
        contrasts=comparisons.encrypted_links,
        lacks=ndb_tools.lacks,
    ),
)  # fmt: skip

UNRECORDED = (
    Experiment(
        "network-faults",
        "What do clients see when the network or a host fails?",
        "unrecorded/21_network_faults.ipynb",
        figures=("network-faults",),
        claims=("A-arbitration", "A-heartbeat"),
        grid=grids.every_fault,
        sizes=_FAULT_SIZES,
        variants=(Variant(), *(Variant(f.name, fault=f) for f in fault.NETWORK_FAULTS.values())),
        budget="shared",
        hosts=tuple(hosts.usual_roles(5)),
        lacks=connected.lacks,
    ),
)
