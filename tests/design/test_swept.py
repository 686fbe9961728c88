"""The contrasts of each experiment: which points they compare, given a sweep."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from made_up import double
from ndblab.design import catalogue
from ndblab.design import swept as comparisons
from ndblab.design.contrast import DUET, TWINS, Length, Side
from ndblab.statistics import summary

EXPERIMENTS = (
    "single-server-scaling", "multi-server-scaling", "shm-vs-tcp", "thread-balance",
    "connection-pool",
)  # fmt: skip


def swept(**more) -> pd.DataFrame:
    """The points of a made-up sweep: one server saturates at 8 clients, 16 are best at 128."""
    dataset = double(
        lambda n, c: min(125.0 * c, min(1000.0 * n, 5000.0)) * (0.8 if c > 128 else 1) + c / 1e3,
        spread=0.0, clients=(1, 2, 4, 8, 16, 32, 64, 128, 256), **more,
    )  # fmt: skip
    return summary.points(dataset.runs.assign(variant="default"))


def coarsely_swept(past_64: float) -> pd.DataFrame:
    """The points of a quick sweep, of which 256 clients have this share of the best throughput."""
    dataset = double(
        lambda n, c: min(125.0 * c, 1000.0 * n, 5000.0) * (past_64 if c > 64 else 1) + c / 1e3,
        spread=0.0, clients=(1, 4, 16, 64, 256),
    )  # fmt: skip
    return summary.points(dataset.runs.assign(variant="default"))


def contrasts(name: str, points: pd.DataFrame, profile: str = "quick", **size) -> dict:
    experiment = catalogue.find(name)
    planned = experiment.contrasts(experiment, experiment.size(profile, size), points)
    return {contrast.name: contrast for contrast in planned}


def at(side: Side | None) -> tuple[int, int, str] | None:
    return side and (side.point.servers, side.point.clients, side.point.variant)


def test_clients_follow_from_the_sweep() -> None:
    """k saturates one server, the best number of clients is that of the best mean.

    At an equal rate there are fewer clients, so that each sends 100 queries on its connection.
    """
    planned = contrasts("multi-server-scaling", swept())
    assert at(planned["servers-1-2"].a) == (2, 16, "default")
    assert at(planned["servers-1-2"].b) == (1, 8, "default")
    assert at(planned["servers-2-4"].a) == (4, 32, "default")
    assert at(planned["overload"].a) == (16, 256, "default")
    assert at(planned["overload"].b) == (16, 128, "default")
    assert at(planned["servers-8-16"].b) == (8, 64, "small-servers")
    assert planned["half-load"].a.options == {"rate": 2500}
    early = planned["early-8-16"].a
    assert at(early) == (16, 48, "undivided")
    assert early.options["rate"] * 3 / early.point.clients >= 100, "3 s with the warm-up"


def test_p95_of_8_and_16_servers_is_compared_at_a_load_that_both_carry() -> None:
    """The same rate and clients on both sides, 0.4 of the lower best throughput, undivided."""
    points = coarsely_swept(1.0)
    points.loc[points["servers"] == 16, "qps_mean"] *= 0.8
    early = contrasts("multi-server-scaling", points)["early-8-16"]
    best = points[points["servers"] == 16]["qps_mean"].max()
    assert early.a.options == early.b.options == {"rate": round(0.4 * best)}
    assert at(early.b) == (8, early.a.point.clients, "undivided")


def test_overload_is_past_the_peak_of_a_coarse_sweep() -> None:
    """Twice the best may still be on the near side of a peak that the sweep stepped over."""
    points = coarsely_swept(0.8)
    assert at(contrasts("multi-server-scaling", points)["overload"].a) == (16, 256, "default")
    rising = points.assign(qps_mean=points["clients"].astype(float))
    assert at(contrasts("multi-server-scaling", rising)["overload"].a) == (16, 512, "default")


def test_a_peak_that_noise_finds_too_early_is_not_overloaded_before_its_end() -> None:
    """As in a real sweep: 64 clients seemed better than 256, which had 12 % more once measured."""
    overload = contrasts("multi-server-scaling", coarsely_swept(0.93))["overload"]
    assert (at(overload.a), at(overload.b)) == ((16, 512, "default"), (16, 256, "default"))


def test_cpus_are_kept_awake_where_one_side_leaves_them_idle() -> None:
    """On both sides alike, or on neither: the condition is never what is compared."""
    planned = contrasts("multi-server-scaling", swept()).values()
    both = {c.name: {side.condition for side in c.sides} for c in planned}
    awake = {"servers-1-2", "servers-2-4", "servers-8-16", "early-8-16", "slower-servers"}
    assert {name for name, sides in both.items() if sides == {"idle-spinner"}} == awake
    assert all(sides == {""} for name, sides in both.items() if name not in awake)


def test_noise_does_not_saturate_a_server_with_one_client() -> None:
    """A lucky run with one client does not become the number that saturates a server."""
    points = swept()
    lucky = (points["servers"] == 1) & (points["clients"] == 1)
    points.loc[lucky, "qps_mean"] = 1050.0
    planned = contrasts("multi-server-scaling", points)
    assert planned["servers-1-2"].b.point.clients == comparisons.LEAST_CLIENTS


def test_figure_5_is_far_past_the_peak_and_within_the_profile() -> None:
    """32 times the clients that saturate a server, or the most of the profile."""
    points = swept(servers=(1,))
    assert at(contrasts("single-server-scaling", points)["recv"].a) == (1, 256, "threads-of-32")
    brief = contrasts("single-server-scaling", points, "brief")
    assert at(brief["recv"].a) == (1, 256, "threads-of-32")
    assert at(contrasts("single-server-scaling", points, clients="1,8,1024")["recv"].a)[1] == 256


def test_servers_that_the_profile_lacks_have_no_contrast() -> None:
    """The smoke profile has two servers, and no claim that needs more."""
    planned = contrasts("multi-server-scaling", pd.DataFrame(), "smoke")
    assert "servers-1-2" in planned
    assert not {"servers-2-4", "servers-8-16", "slower-servers"} & set(planned)
    assert "fall" not in contrasts("single-server-scaling", pd.DataFrame(), "smoke")


def test_the_smoke_profile_has_one_pair_of_twins_for_spinning() -> None:
    """It shows that a spinning cluster runs, and takes no time for more."""
    planned = contrasts("shm-vs-tcp", pd.DataFrame(), "smoke").values()
    assert [contrast.name for contrast in planned] == ["reads-best", "spin-1"]
    assert all(contrast.design == TWINS for contrast in planned)


@pytest.mark.parametrize("profile", ["smoke", "quick", "brief"])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_side_can_be_measured(name: str, profile: str) -> None:
    """Its variant exists, its servers run, its clients fit the connections of the cluster."""
    experiment = catalogue.find(name)
    size = experiment.size(profile)
    for points in (pd.DataFrame(), swept())[: 1 + (profile == "quick")]:
        for contrast in contrasts(name, points, profile).values():
            sides = contrast.sides
            for side in sides:
                assert experiment.variant(side.point.variant)
                assert side.point.servers <= side.point.clients <= 2 * max(size.clients)
            both = [side.point.servers for side in sides]
            servers = sum(both) if contrast.design == DUET else max(both)
            assert servers <= experiment.servers(size)


def test_every_variant_of_contrasts_alone_is_in_one() -> None:
    """No cluster is planned that nothing needs."""
    for name in EXPERIMENTS:
        alone = {v.name for v in catalogue.find(name).variants if v.contrasts_only}
        sides = [side for c in contrasts(name, swept()).values() for side in c.sides]
        assert alone <= {side.point.variant for side in sides}


def test_transporters_are_compared_in_twin_clusters_without_quotas() -> None:
    """Each alone on its own data nodes; what one costs is not what the other leaves of a quota."""
    planned, experiment = contrasts("shm-vs-tcp", pd.DataFrame()), catalogue.find("shm-vs-tcp")
    assert {contrast.design for contrast in planned.values()} == {TWINS}
    assert experiment.budget == "shared"
    for name in ("reads-best", "writes-top", "writes-1", "writes-2"):
        sides = planned[name].a.point, planned[name].b.point
        assert [point.transporter for point in sides] == ["shm", "tcp"]
        assert {point.variant for point in sides} == {"default"}


def test_very_many_clients_are_compared_where_a_profile_has_them() -> None:
    """As many as the source calls very high concurrency, at most 1536; quick has none."""
    assert "writes-high" not in contrasts("shm-vs-tcp", pd.DataFrame())
    many = contrasts("shm-vs-tcp", pd.DataFrame(), "brief")["writes-high"]
    assert {many.a.point.clients, many.b.point.clients} == {1024}
    assert many.claims == ("T-high",)


def test_the_redo_log_is_compared_in_twin_clusters_without_quotas() -> None:
    """Nothing but the redo log differs."""
    redo = contrasts("single-server-scaling", swept(servers=(1,)))["redo"]
    experiment = catalogue.find("single-server-scaling")
    small, usual = (experiment.variant(side.point.variant) for side in (redo.a, redo.b))
    assert redo.design == TWINS
    assert replace(small, name="", shape={}) == replace(usual, name="")
    assert (small.name, dict(small.shape)) == ("redo-small", {"small_redo": True})


def test_tls_is_compared_in_twin_clusters_with_every_server_by_tcp() -> None:
    """Shared memory has no TLS; nothing else differs, and each contrast has blocks of its own."""
    experiment = catalogue.find("tls")
    size = experiment.size("quick")
    planned = experiment.contrasts(experiment, size, pd.DataFrame())
    assert [c.name for c in planned] == ["tls-best", "tls-one"]
    for contrast in planned:
        assert (contrast.design, contrast.claims) == (TWINS, ())
        assert contrast.blocks > 0
        assert replace(contrast.a.point, variant="default") == contrast.b.point
        assert contrast.a.point.transporter == "tcp"
    assert experiment.clusters() == (("default",), ("tls",))


def test_a_level_of_seconds_in_a_row_is_one_slice_as_long_as_two() -> None:
    """The same seconds are measured; those of a steady load follow each other."""
    usual = Length(1, 2)
    for name in ("undivided", "half-load"):
        level = contrasts("multi-server-scaling", swept())[name]
        [[alone]] = level.block(1, seed=1)
        assert (alone.of, level.length(usual)) == (1, Length(1, 4))
    recv = contrasts("single-server-scaling", swept(servers=(1,)))["recv"]
    assert [contrast.of for [contrast] in recv.block(1, seed=1)] == [2, 2]
    assert recv.length(usual) == usual
