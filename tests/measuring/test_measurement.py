"""A measurement, as far as it starts no cluster."""

from __future__ import annotations

import inspect
import itertools
import shlex
from types import SimpleNamespace

import pytest
import tasks
from invoke import Context

from measuring.deciding.simulated import World
from ndblab.design import catalogue
from ndblab.measuring.deciding import Judging, contrasts
from ndblab.measuring.request import Request
from ndblab.publishing import reproduction
from ndblab.statistics.sequential import LOOKS


@pytest.mark.parametrize(
    "typed",
    [
        "--figure 6",
        "--figure 6 --profile brief --budget shared --servers 1,2 --duration 8 --table-size 100",
        "--experiment shm-vs-tcp --repeats 4 --base-port 14000",
        "--experiment engines --profile smoke --engines /opt/rondb-21.04,rondb-21.10.tar.gz",
    ],
)
def test_the_command_that_goes_on_is_that_of_the_same_measurement(typed, asked):
    """Whatever was typed comes back, as its options belong to the identity of the dataset."""
    words = iter(shlex.split(typed))
    options = {word[2:].replace("-", "_"): next(words) for word in words}
    tasks.reproduce.body(Context(), **options, minutes="10")
    [(source, [name], request)] = asked
    assert (source, request.hosts, request.attach) == (None, None, None)
    assert (request.again, request.minutes) == (False, 10)
    assert request.command(catalogue.find(name)) == f"./lab reproduce {typed}"


def test_the_command_that_goes_on_over_several_hosts_is_accepted_as_typed(asked):
    """It repeats that the network is one to trust, which says nothing without --hosts."""
    typed = "./lab reproduce --figure 6 --profile smoke --hosts me@a,b"
    for trusted, more in ((False, ""), (True, " --insecure-network")):
        request = Request("smoke", hosts="me@a,b", insecure_network=trusted)
        assert request.command(catalogue.find(figure=6)) == typed + more
    options = {"figure": "6", "profile": "smoke", "hosts": "me@a,b"}
    tasks.reproduce.body(Context(), **options, insecure_network=True, minutes="10")
    tasks.reproduce.body(Context(), **options)
    given = [(request.hosts, request.insecure_network) for _, _, request in asked]
    assert given == [("me@a,b", True), ("me@a,b", False)]


OPTIONS = {
    "figure": "6", "table": "1", "experiment": "multi-server-scaling", "all": True,
    "profile": "smoke", "budget": "shared", "recorded": True, "dataset": "data/runs/x",
    "servers": "1,2", "clients": "8", "repeats": "2", "duration": "5", "warmup": "1",
    "tables": "1", "table_size": "100", "seed": "7", "base_port": "14000", "again": True,
    "minutes": "5", "dry_run": True, "host": "brief", "engines": "A,B", "hosts": "me@a,me@b",
    "insecure_network": True, "attach": "db1", "endpoints": "/x",
}  # fmt: skip
"""Every option of `reproduce` as one may type it."""


@pytest.fixture
def asked(monkeypatch) -> list[tuple]:
    """What `reproduce` asks for: source or "plan for HOST", names of experiments, the request."""
    noted: list[tuple] = []

    def measured(chosen, source, request, *_, **options):
        noted.append((source, [experiment.name for experiment in chosen], request))

    def planned(chosen, request, described):
        noted.append((f"plan for {described}", [experiment.name for experiment in chosen], request))
        return ["# nothing"]

    monkeypatch.setattr(reproduction, "reproduce", measured)
    monkeypatch.setattr(reproduction, "dry_runs", planned)
    return noted


def test_no_option_of_reproduce_refuses_another_but_two_that_say_where_the_cluster_is(asked):
    """Each pair is typed; a figure and a table of different experiments name no experiment."""
    parameters = inspect.signature(tasks.reproduce.body).parameters
    assert set(OPTIONS) == set(parameters) - {"c"}
    refused = set()
    for pair in itertools.combinations(OPTIONS, 2):
        options = {name: OPTIONS[name] for name in pair}
        named = {"figure", "table", "experiment", "all"} & set(pair)
        try:
            tasks.reproduce.body(Context(), **({} if named else {"figure": "6"}) | options)
        except tasks.Exit:
            refused.add(pair)
    assert refused - {("figure", "table"), ("table", "experiment")} == {("hosts", "attach")}


def test_what_an_option_cannot_change_is_said(asked, capsys):
    """Never silently: nothing is measured of recorded data, a cluster of others stays as it is."""
    tasks.reproduce.body(Context(), figure="6", recorded=True, minutes="5", table_size="100")
    assert "without effect on data that are there already: --table-size, --minutes" in (
        capsys.readouterr().err
    )
    tasks.reproduce.body(
        Context(), figure="6", attach="db1", endpoints="/x", budget="scaled", base_port="14000"
    )
    assert "cluster that runs already: --budget, --base-port" in capsys.readouterr().err
    tasks.reproduce.body(Context(), figure="6", insecure_network=True)
    assert "without effect on one host: --insecure-network" in capsys.readouterr().err
    tasks.reproduce.body(Context(), figure="6", hosts="a,b", insecure_network=True, minutes="5")
    assert capsys.readouterr().err == ""
    assert [source for source, _, _ in asked] == ["recorded", None, None, None]
    assert [request.insecure_network for _, _, request in asked] == [False, False, False, True]


def test_another_host_is_planned_for_and_never_measured(asked, capsys):
    """A description says what to plan for; the lab measures nowhere but where it is told."""
    tasks.reproduce.body(Context(), figure="6", host="brief")
    tasks.reproduce.body(Context(), figure="6", hosts="me@a,me@b", host="brief")
    [one, several] = asked
    assert (one[0], one[2].hosts) == ("plan for brief", None)
    assert (several[0], several[2].hosts) == ("plan for brief", "me@a,me@b")


def test_all_takes_those_named_besides(asked, monkeypatch):
    """One that has no recorded dataset is no part of --all unless it is named."""
    have = {name: experiment for name, experiment in catalogue.every().items() if name != "tuned"}
    monkeypatch.setattr(catalogue, "every", lambda: have)
    tasks.reproduce.body(Context(), all=True, experiment="tuned", recorded=True)
    tasks.reproduce.body(Context(), all=True, figure="6", recorded=True)
    [with_one, usual] = (names for _, names, _ in asked)
    assert set(with_one) - set(usual) == {"tuned"}
    assert len(usual) == len(set(usual)) == len(catalogue.every())


def test_minutes_of_a_measurement_are_whole_ones():
    """A wrong number is refused before anything starts."""
    for minutes in ("soon", "0"):
        with pytest.raises(tasks.Exit, match="--minutes"):
            tasks.reproduce.body(Context(), figure="6", minutes=minutes)


def test_only_a_dataset_with_open_claims_is_gone_on_with():
    """Open: its blocks do not decide yet, and more of them might."""
    world = World({"x": 0.3}, {"x": 20})

    def is_open():
        known = [contrast.to_dict() for contrast in world.contrasts]
        data = SimpleNamespace(slices=world.snapshot().slices, manifest={"contrasts": known})
        return contrasts.is_open(data, Judging(world.judge, {}, ""))

    assert is_open()
    for number in range(1, LOOKS[0] + 1):
        assert is_open()
        world.measure_block(world.contrasts[0], number)
    assert not is_open()


@pytest.mark.parametrize(
    ("body", "options"),
    [
        (tasks.claims.body, {"id": ""}),
        (tasks.claims.body, {"id": " , "}),
        (tasks.reproduce.body, {"figure": "6", "dataset": ""}),
        (tasks.predict.body, {"from_": ""}),
    ],
)
def test_an_option_without_a_value_is_refused(body, options):
    """`--dataset "$UNSET"` would measure for minutes instead of reading."""
    name = list(options)[-1].strip("_")
    with pytest.raises(tasks.Exit, match=f"no value.*\\n.*--{name} ''"):
        body(Context(), **options)
