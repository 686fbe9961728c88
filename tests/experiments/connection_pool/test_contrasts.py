"""The contrasts of connection pools."""

from __future__ import annotations

import functools

from experiments import planned
from ndblab.design import catalogue, time_needed
from ndblab.design.contrast import ALTERNATION, DUET
from ndblab.experiments.connection_pool.experiment import POOLS
from ndblab.planning import deployment

EXPERIMENT = catalogue.find("connection-pool")
made = functools.partial(planned.contrasts, EXPERIMENT)


def test_each_pair_is_compared_with_whole_cpus_in_turns_and_under_shares_at_once():
    """With whole CPUs two servers at work would share them; a quota each has for itself."""
    for name, contrast in made().items():
        whole = not name.endswith("-share")
        assert contrast.design == (ALTERNATION if whole else DUET)
        quotas = [EXPERIMENT.variant(s.point.variant).quotas for s in (contrast.a, contrast.b)]
        assert quotas[0] == quotas[1]
        assert bool(quotas[0]) is whole
        assert contrast.a.point.clients == contrast.b.point.clients == 32


def test_a_name_says_which_pools_are_compared():
    """The smaller first; the larger is side A."""
    for name, contrast in made().items():
        pools = [EXPERIMENT.variant(s.point.variant).connections for s in (contrast.b, contrast.a)]
        assert name.removesuffix("-share") == f"pools-{pools[0]}-{pools[1]}"
    assert {name for name in made() if not name.endswith("-share")} == {
        "pools-1-8", "pools-8-16", "pools-1-4",
    }  # fmt: skip


def test_every_contrast_spans_starts_and_is_measured_whether_a_claim_waits_or_not():
    """Its interval needs blocks, each of another start."""
    assert all(c.blocks >= 4 and c.blocks_per_start == 1 for c in made().values())
    assert {claim for c in made().values() for claim in c.claims} == {"P-pool-8", "P-pool-16"}


def test_there_is_a_server_with_each_pool_in_one_cluster():
    """Pools and quotas need no other cluster."""
    assert len(EXPERIMENT.clusters()) == 1
    size = EXPERIMENT.size("quick")
    shape = EXPERIMENT.cluster_shape(size, "default", "auto", deployment.Places())
    assert shape.pools == POOLS
    assert EXPERIMENT.servers(EXPERIMENT.size("quick", {"servers": 2})) == 2 * len(POOLS)


def test_the_smoke_profile_takes_less_than_a_minute_and_a_half():
    """With its one pair of pools, in both settings."""
    smoke = EXPERIMENT.size("smoke")
    blocks = [time_needed.block_s(c, EXPERIMENT, smoke) for c in made("smoke").values()]
    starts_s = len(blocks) * time_needed.start_s(EXPERIMENT, smoke)
    assert len(blocks) == 2
    # A first block joins the start of the sweep.
    assert time_needed.sweep_s(EXPERIMENT, smoke) + sum(blocks) - starts_s < 90
