"""What a running cluster is told before a variant is measured on it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from cluster.test_variables import Answering
from ndblab.attach.measurement import AttachedCluster
from ndblab.cluster import start_stop
from ndblab.design import grids
from ndblab.design.contrast import RESTARTS, Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.design.variant import Variant
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.measuring.clusters import Clusters
from ndblab.planning import deployment
from ndblab.planning.point import Point
from ndblab.planning.shape import Shape


def clusters_of(*variants: Variant) -> Clusters:
    """Clusters of which one runs, and only answers."""
    experiment = Experiment("x", "?", "x.ipynb", (), (), grids.one_point, variants=variants)
    plans = {variant.name: "a plan" for variant in variants}
    manifest: dict[str, object] = {}
    writer = SimpleNamespace(manifest=manifest, note=lambda **facts: manifest.update(facts))
    binaries = SimpleNamespace()
    clusters = Clusters(experiment, experiment.size("smoke"), plans, binaries, writer, False)
    clusters._cluster, clusters._running = Answering(), ("a plan", binaries)
    return clusters


def test_the_labs_clusters_may_start_anew_and_attached_ones_never() -> None:
    """Blocks ask for it; how many MySQL servers were restarted has nothing to do with it."""
    clusters = clusters_of(Variant())
    assert clusters.startable
    assert clusters.restarts == 0
    assert not AttachedCluster.startable


def test_variables_are_switched_with_the_variant_and_put_back() -> None:
    """On every server, and only if they change; what servers showed goes into the dataset."""
    clusters = clusters_of(Variant(), Variant("small", set_global={"ndb_batch_size": 512}))
    shown = []
    for variant in ("default", "small", "small", "default"):
        cluster = clusters.ready(Point(1, 4, variant=variant))
        shown.append([variables["ndb_batch_size"] for variables in cluster.values.values()])
    assert shown == [[32768] * 2, [512] * 2, [512] * 2, [32768] * 2]
    seen = [{"ndb_batch_size": "512"}, {"ndb_batch_size": "32768"}]
    assert clusters.writer.manifest["set_global"] == seen


def test_contrasts_of_servers_options_share_a_cluster_start(monkeypatch) -> None:
    """Each restarts the servers with its own options; only another pool needs other nodes."""
    started: list[int] = []
    restarted: list[list[dict]] = []

    def start(clusters: Clusters, point: Point, plan, binaries) -> None:
        started.append(len(started))
        clusters._cluster, clusters._running = SimpleNamespace(), (plan, binaries)

    monkeypatch.setattr(Clusters, "_start", start)
    monkeypatch.setattr(Clusters, "_limit", lambda *_: None)
    monkeypatch.setattr(Clusters, "_keep", lambda *_: True)
    monkeypatch.setattr(
        start_stop, "restart_servers",
        lambda _, plan: restarted.append([dict(node.options) for node in plan.servers]),
    )  # fmt: skip
    clusters = clusters_of(Variant())
    clusters._cluster = clusters._running = None
    for name, pools in (("x", (1,)), ("y", (1,)), ("z", (1, 4))):
        options = ({}, {name: 1})
        shape = Shape(2, 1000, 4, server_options=options, connection_pools=pools)
        clusters.plans = {"default": deployment.make(host.read(), shape)}
        contrast = Contrast(name, RESTARTS, *2 * (Side(Point(1, 4)),), ())
        for slot in contrast.block(1, 1):
            clusters.restarted(contrast, slot[0])
    assert len(started) == 2
    assert restarted == [[{}, {"x": 1}], [{}, {"y": 1}], [{}, {"z": 1}]]


class Restarting:
    """Clusters of two MySQL servers, of which that with an option of B does not come up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        sides = [Side(Point(1, 4, variant=name)) for name in ("default", "b")]
        self.contrast = Contrast("compare", RESTARTS, *sides, ())
        shape = Shape(2, 1000, 4, server_options=({}, {"bad": 1}))
        self.plan = deployment.make(host.read(), shape)
        self.clusters = clusters_of(Variant(), Variant("b", server_options={"bad": 1}))
        asked = {"contrast": self.contrast.to_dict()}
        self.clusters.experiment = replace(self.clusters.experiment, asked=asked)
        self.clusters.plans = dict.fromkeys(("default", "b"), self.plan)
        self.clusters._running = self.plan, self.clusters.binaries
        monkeypatch.setattr(Clusters, "_limit", lambda *_: None)
        monkeypatch.setattr(start_stop, "restart_servers", lambda _, plan: self.fail(plan))
        monkeypatch.setattr(start_stop, "running", lambda plan, *_: self.fail(plan))

    def fail(self, plan: deployment.Plan) -> None:
        [name] = (node.name for node in plan.servers if node.options)
        raise LabError(f"{name} (node 12) ended by itself, exit status 1")


@pytest.mark.parametrize("block", [1, 2])
def test_a_server_that_does_not_come_up_with_a_sides_setting_names_the_side(block, monkeypatch):
    """Whichever of the servers has it in this block."""
    restarting = Restarting(monkeypatch)
    slices = [slot[0] for slot in restarting.contrast.block(block, 1)]
    with pytest.raises(LabError, match=r"^Side B: mysqld\.\d \(node 12\) ended by itself"):
        restarting.clusters.restarted(restarting.contrast, slices[0])


def test_a_server_that_does_not_come_up_at_first_names_its_side(monkeypatch):
    """Its setting is there from the first start on, which is for the load of A."""
    restarting = Restarting(monkeypatch)
    restarting.clusters._cluster = None
    with pytest.raises(LabError, match=r"^Side B: mysqld\.2 \(node 12\) ended by itself"):
        restarting.clusters.ready(Point(1, 4))


@pytest.mark.parametrize(
    ("what", "whose"),
    [
        ("Timed out waiting for mysqld.2 (node 12)", "Side B"),
        (
            "Timed out waiting for mysqld.1 (node 11) and mysqld.2 (node 12)",
            "Side A (default) and Side B",
        ),
        ("Timed out waiting for ndbmtd.1 (node 2)", ""),
    ],
)
def test_whose_servers_were_waited_for_in_vain_is_said(what, whose, monkeypatch):
    """Both sides if it were both, and none if it is about the data nodes, which they share."""
    restarting = Restarting(monkeypatch)
    sides = {name: restarting.contrast.side(name).point for name in ("a", "b")}
    assert restarting.clusters._whose(restarting.plan, sides)(LabError(what)) == whose


def test_variants_with_other_variables_are_not_measured_at_the_same_time() -> None:
    """A duet has one value of a global variable."""
    clusters = clusters_of(Variant(), Variant("small", set_global={"ndb_batch_size": 512}))
    with pytest.raises(ValueError, match="cannot be measured at the same time"):
        clusters.ready(Point(1, 4), Point(1, 4, variant="small"))
