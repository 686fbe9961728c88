"""What an attached cluster allows of each experiment."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest
import tasks
from invoke import Context

from attached_facts import facts
from ndblab.attach import attachable, cluster
from ndblab.attach import measurement as attaching
from ndblab.attach import plan as attached
from ndblab.attach.login import Login
from ndblab.attach.prepared import Prepared, fit
from ndblab.attach.target import Target
from ndblab.cluster.management_client import DEACTIVATED, Shown
from ndblab.dataset import identity_hash
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.planning.shape import Places
from ndblab.workloads import sysbench
from workloads import doubles

POSSIBLE = {"costs", "single-server-scaling", "multi-server-scaling", "stability", "read-write"}
BINARIES = SimpleNamespace(
    **vars(doubles.BINARIES), fingerprint=lambda: {"sysbench": "a", "ndbmtd": "b"}
)


def part(name: str, servers: int = 2, transporter: str = "tcp") -> attachable.Attachable:
    own = {"schema": "ndblab_11_ab", "user": "bench", "options_file": "/proc/self/fd/7"}
    return attachable.part(catalogue.find(name), servers, transporter, **own)


def test_experiments_that_need_a_cluster_of_their_own_are_refused() -> None:
    """Each with its reason, and with those that are possible."""
    for name, experiment in catalogue.every().items():
        if name in POSSIBLE:
            attachable.check(experiment)
            continue
        with pytest.raises(LabError, match="cannot be measured on an attached") as caught:
            attachable.check(experiment)
        assert caught.value.found
        assert set(caught.value.expected.removeprefix("one of ").split(", ")) == POSSIBLE


@pytest.mark.parametrize("name", sorted(POSSIBLE))
@pytest.mark.parametrize("profile", ["smoke", "quick", "brief"])
def test_nothing_that_is_left_changes_a_cluster(name: str, profile: str) -> None:
    """No quota, no configuration, no fault, no start, no schema but the lab's own."""
    allowed = part(name, servers=16)
    size = allowed.size(profile)
    contrasts = allowed.contrasts(allowed, size, pd.DataFrame()) if allowed.contrasts else ()
    sides = [side for contrast in contrasts for side in (contrast.a, contrast.b) if side]
    points = [*allowed.sweep(size).points, *(side.point for side in sides)]
    assert points
    for point in points:
        variant = allowed.variant(point.variant)
        assert not any((variant.config_ini, variant.my_cnf, variant.shape, variant.fault))
        assert not any((variant.neighbours, variant.table_options, variant.second_engine))
        assert not variant.set_global
        assert set(variant.quotas.values()) <= {None}
        assert point.transporter == "tcp"
    assert all(c.design != "starts" and not c.blocks_per_start for c in contrasts)
    assert not any(side.condition for side in sides)
    assert not allowed.after_filling


def test_what_is_left_out_is_named_with_its_reason() -> None:
    """Once for each reason; a contrast needs as many endpoints as it loads servers."""
    experiment = catalogue.find(figure=6)
    out = attachable.left_out(experiment, 16, experiment.size("quick"))
    assert any("variant small-servers" in line and line.endswith("CPU quotas") for line in out)
    few = attachable.left_out(experiment, 8, experiment.size("quick"))
    assert any("servers-4-16" in line and line.endswith("needs 16 endpoints") for line in few)


def test_contrasts_keep_the_name_by_which_datasets_know_them() -> None:
    """It is part of their identity."""
    assert part("multi-server-scaling").contrasts.__name__ == "many_servers"


def test_a_load_uses_the_account_and_the_schema_of_the_lab() -> None:
    """The password is in a file that only sysbench inherits."""
    allowed = part("multi-server-scaling")
    plan = attached.plan(facts(), Places("/x", "/x"), 64)
    size = allowed.size("smoke")
    [*_, last] = allowed.sweep(size).points
    job = allowed.job(size, BINARIES, plan, last)
    own = {"--mysql-user=bench", "--mysql-db=ndblab_11_ab", "--config-file=/proc/self/fd/7"}
    for command in (sysbench.prepare_command(job), *sysbench.commands(job)):
        assert own <= set(command.argv)
    assert "--mysql-socket=/run/1.sock,/run/2.sock" in sysbench.commands(job)[-1].argv


def prepared(**changes: object) -> Prepared:
    known = facts(**changes)
    allowed = part("stability", transporter=known.transporter)
    plan = attached.plan(known, Places("/x", "/x"), 64)
    target = Target("db1", tuple(server.endpoint for server in known.servers), Login("bench"))
    size = allowed.size("smoke")
    return Prepared(size, {}, BINARIES, host.read(), target, known, plan, allowed, None)


def test_deactivated_nodes_of_rondb_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every kind, before the measurement begins."""
    monkeypatch.setattr(cluster, "others_per_s", lambda _: 0)
    idle = [Shown(n, kind, state=DEACTIVATED) for n, kind in ((4, "NDB"), (5, "API"), (6, "API"))]
    notes = list(prepared(nodes=(*facts().nodes, *idle)).notes(catalogue.find("stability")))
    assert [note.rpartition(": ")[2] for note in notes if note.startswith("deactivated")] == [
        "data nodes 4", "API nodes 5, 6",
    ]  # fmt: skip


def test_a_dataset_names_the_cluster_and_no_password() -> None:
    """Versions are those of the cluster, not of the programs of this host."""
    manifest, identity = attaching.describe(prepared())
    assert manifest["versions"] == {"ndb": "9.7.4", "mysqld": "9.7.4", "sysbench": "1.0.20"}
    assert manifest["builds"] == {"sysbench": "a"}
    assert manifest["attached"]["connectstring"] == "127.0.0.1:13860"
    assert manifest["plan"]["budget"]["kind"] == "attached"
    assert "/proc/self/fd" not in str(manifest)
    other = {node: values | {"DataMemory": "1"} for node, values in facts().config.items()}
    _, changed = attaching.describe(prepared(config=other))
    assert identity_hash(changed) != identity_hash(identity)
    assert identity_hash(attaching.describe(prepared())[1]) == identity_hash(identity)


def test_servers_are_as_many_as_there_are_endpoints() -> None:
    """A profile is cut; what the user asked for is not."""
    experiment = catalogue.find(figure=6)
    assert fit(experiment, "quick", {}, 4).servers == (1, 2, 4)
    assert fit(catalogue.find(figure=1), "quick", {}, 3).servers == (3,)
    with pytest.raises(LabError, match="more --servers than endpoints"):
        fit(experiment, "quick", {"servers": "1,8"}, 4)


def test_endpoints_need_a_cluster_and_a_cluster_endpoints() -> None:
    with pytest.raises(tasks.Exit, match="needs the connect string"):
        tasks.reproduce.body(Context(), figure="6", endpoints="/x")
    with pytest.raises(tasks.Exit, match="needs the MySQL servers"):
        tasks.reproduce.body(Context(), figure="6", attach="db1")
