"""The sweep and the contrasts of read locality."""

from __future__ import annotations

import functools

from experiments import planned
from ndblab.design import catalogue, time_needed
from ndblab.design.contrast import ALTERNATION
from ndblab.machine import host
from ndblab.planning.point import Point
from ndblab.planning.shape import Places
from ndblab.planning.workload import POINT_SELECT, READ_ONLY

EXPERIMENT = catalogue.find("read-locality")
made = functools.partial(planned.contrasts, EXPERIMENT)
MAIN = ("default", "read-backup", "primary-only", "fully-replicated")


def test_all_kinds_of_tables_share_a_cluster_and_domains_have_their_own():
    """Each kind is filled once; read backup serves two variants."""
    assert EXPERIMENT.clusters() == (MAIN, ("domains", "domains-primary-only"))
    assert EXPERIMENT.filled("read-backup") == ("default", "primary-only", "fully-replicated")
    assert EXPERIMENT.filled("domains") == ("domains", "domains-primary-only")


def test_each_kind_of_table_is_in_a_database_of_its_own():
    """The first in the generator's own; variants with the same tables use the same."""
    size = EXPERIMENT.size("quick")
    plans = EXPERIMENT.plans(size, "shared", host.read(), Places())
    databases = {}
    for variant in EXPERIMENT.variants:
        point = Point(4, 8, variant=variant.name)
        job = EXPERIMENT.job(size, None, plans[variant.name], point)
        databases[variant.name] = job.database
        assert job.probes
    assert databases["default"] == databases["read-backup"] == databases["domains"] == ""
    assert databases["primary-only"] == databases["domains-primary-only"] == "sbtest2"
    assert databases["fully-replicated"] == "sbtest3"


def test_there_is_memory_for_the_tables_of_every_kind():
    """Fully replicated ones are whole on each data node."""
    size = EXPERIMENT.size("quick")
    shape = EXPERIMENT.cluster_shape(size, "default", "auto", Places())
    assert (shape.rows, shape.node_groups, shape.domains) == (3 * size.rows, 2, False)
    assert EXPERIMENT.cluster_shape(size, "domains", "auto", Places()).domains


def test_both_sides_of_a_contrast_have_the_same_load_in_one_cluster():
    """They differ in their tables, or in what servers know; never in clients."""
    together = {name: names for names in EXPERIMENT.clusters() for name in names}
    for contrast in made().values():
        a, b = contrast.a.point, contrast.b.point
        assert contrast.design == ALTERNATION
        assert (a.servers, a.clients, a.workload) == (b.servers, b.clients, b.workload)
        assert together[a.variant] == together[b.variant]
        assert a.workload == (POINT_SELECT if contrast.name.startswith("lookups") else READ_ONLY)
        assert contrast.blocks >= 4


def test_every_claim_has_its_contrast_in_every_profile():
    """The smoke profile has nothing else."""
    claims = {"C-read-backup", "C-fully-replicated", "C-location"}
    for profile in ("smoke", "quick", "brief"):
        assert {claim for c in made(profile).values() for claim in c.claims} == claims
    assert len(made("smoke")) == 3


def test_the_quick_profile_takes_at_most_a_quarter_of_an_hour():
    """With all blocks that every contrast needs for an interval."""
    quick = EXPERIMENT.size("quick")
    sweep_s = time_needed.sweep_s(EXPERIMENT, quick)
    blocks_s = sum(c.blocks * time_needed.block_s(c, EXPERIMENT, quick) for c in made().values())
    # There, and back again.
    starts_s = 2 * time_needed.start_s(EXPERIMENT, quick)
    assert sweep_s + starts_s + blocks_s < 15 * 60
    own_s = time_needed.own_s(EXPERIMENT, quick)
    assert sweep_s + starts_s + blocks_s <= time_needed.limit_s(sweep_s, quick, own_s) <= 15 * 60
