"""The experiments by name: points, variants, clusters."""

from __future__ import annotations

import pytest

from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.experiments.transporters import experiment as neighbours
from ndblab.planning import deployment

EVERY = list(catalogue.every().values())


@pytest.mark.parametrize("number", range(1, 10))
def test_every_figure_of_the_brief_belongs_to_one_experiment(number):
    """--figure 1 to --figure 9 lead somewhere, as text or not."""
    experiment = catalogue.find(figure=number)
    assert catalogue.find(figure=str(number)) is experiment
    assert [e for e in EVERY if str(number) in e.figures] == [experiment]


@pytest.mark.parametrize("number", [1, 2])
def test_every_table_of_the_brief_belongs_to_an_experiment(number):
    """--table 1 and --table 2 lead somewhere."""
    assert str(number) in catalogue.find(table=number).tables


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"figure": 99}, "Unknown figure"),
        ({"table": 3}, "Unknown table"),
        ({"name": "tea"}, "Unknown experiment"),
        ({}, "Say what to reproduce"),
        ({"name": "stability", "figure": 6}, "no such figure"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(what, message):
    """The message lists the known ones, or what belongs together."""
    with pytest.raises(LabError, match=message) as caught:
        catalogue.find(**what)
    assert "expected" in str(caught.value)


def test_what_a_user_asks_for_wins_over_the_experiments_own_size():
    """An hour can be had in the quick profile."""
    stability = catalogue.find(figure=1)
    assert stability.size("quick").duration_s == 180
    asked = stability.size("quick", {"duration_s": "3600", "warmup_s": 120, "seed": None})
    assert (asked.duration_s, asked.warmup_s, asked.servers) == (3600, 120, (16,))


def test_the_brief_runs_for_an_hour_with_its_own_numbers():
    """Figure 1: 16 servers, 1024 clients, 120 s of warm-up, 3600 s."""
    size = catalogue.find(figure=1).size("brief")
    [point] = catalogue.find(figure=1).sweep(size).points
    assert (point.servers, point.clients, size.warmup_s, size.duration_s) == (16, 1024, 120, 3600)


def test_transporters_alternate_in_one_cluster_and_spinning_has_its_own():
    """A pair of shared memory and TCP is two runs after one another, at equal clients."""
    experiment = catalogue.find("shm-vs-tcp")
    todo = experiment.sweep(experiment.size("quick"))
    assert todo.clusters == (("default",), ("shm-spin",), ("all-spin",))
    order = [p for p, _ in todo.order() if p.variant == "default"]
    for one, other in zip(order[::2], order[1::2], strict=True):
        assert {one.transporter, other.transporter} == {"shm", "tcp"}
        assert (one.clients, one.workload) == (other.clients, other.workload)
    shape = experiment.cluster_shape(
        experiment.size("quick"), "all-spin", "auto", deployment.Places()
    )
    assert (shape.servers, shape.tcp_servers) == (2, 1)
    assert shape.thread_spin_us == neighbours.SPIN_US
    assert shape.overlay.config_ini == {"shm default": {"ShmSpintime": neighbours.SPIN_US}}


def test_what_differs_in_clients_or_quotas_shares_a_cluster():
    """Both are changed without a restart; a redo log and the threads of data nodes are not."""
    experiment = catalogue.find(figure=4)
    one, *others = experiment.clusters()
    assert one == ("default", "tcp-clients", "undivided")
    assert others == [("redo-small",), ("threads-of-32",)]
    assert experiment.servers(experiment.size("quick")) == 2
    assert experiment.sweep(experiment.size("quick")).clusters == experiment.clusters()[:1]


def test_what_needs_no_cluster_says_so():
    """Figures 2 and 3 come from a plan."""
    experiment = catalogue.find(figure=3)
    with pytest.raises(LabError, match="measures nothing"):
        experiment.sweep(experiment.size("quick"))
