"""A measurement, as far as it starts no cluster."""

from __future__ import annotations

import shlex
from types import SimpleNamespace

import pytest
import tasks
from invoke import Context

from measuring.deciding.simulated import World
from ndblab.design import catalogue
from ndblab.measuring import measurement
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
def test_the_command_that_goes_on_is_that_of_the_same_measurement(typed, monkeypatch):
    """Whatever was typed comes back, as its options belong to the identity of the dataset."""
    asked = []
    monkeypatch.setattr(reproduction, "reproduce", lambda *a, **k: asked.append((a, k)))
    words = iter(shlex.split(typed))
    options = {word[2:].replace("-", "_"): next(words) for word in words}
    tasks.reproduce.body(Context(), **options, minutes="10")
    [((chosen, _, size, budget, overrides, port, _), more)] = asked
    engines, hosts = more.pop("engines"), more.pop("hosts")
    assert hosts is None
    assert more == {"again": False, "minutes": 10}
    [experiment] = chosen
    command = measurement.command(experiment, size, budget, overrides, port, engines)
    assert command == f"./lab reproduce {typed}"


def test_the_command_that_goes_on_over_several_hosts_is_accepted_as_typed(monkeypatch):
    """It repeats that the network is one to trust, which says nothing without --hosts."""
    asked = []
    monkeypatch.setattr(reproduction, "reproduce", lambda *a, **k: asked.append(k))
    experiment = catalogue.find(figure=6)
    command = measurement.command(experiment, "smoke", "auto", None, hosts="me@a,b")
    assert command == "./lab reproduce --figure 6 --profile smoke --hosts me@a,b"
    command = measurement.command(
        experiment, "smoke", "auto", None, hosts="me@a,b", insecure_network=True
    )
    assert command == (
        "./lab reproduce --figure 6 --profile smoke --hosts me@a,b --insecure-network"
    )
    options = {"figure": "6", "profile": "smoke", "hosts": "me@a,b"}
    tasks.reproduce.body(Context(), **options, insecure_network=True, minutes="10")
    tasks.reproduce.body(Context(), **options)
    assert [each["hosts"] for each in asked] == ["me@a,b"] * 2
    assert [each.get("insecure_network", False) for each in asked] == [True, False]
    with pytest.raises(tasks.Exit, match="--insecure-network without --hosts"):
        tasks.reproduce.body(Context(), figure="6", insecure_network=True)


@pytest.mark.parametrize("given", [{"all": True}, {"experiment": "engines", "recorded": True}])
def test_engines_are_named_for_the_measurement_of_one_experiment(given):
    """Recorded data have their engines already, and --all compares none."""
    with pytest.raises(tasks.Exit, match="--engines is for"):
        tasks.reproduce.body(Context(), engines="a,b", **given)


def test_minutes_of_a_measurement_are_whole_ones():
    """A wrong number is refused before anything starts, as is one that has no effect."""
    for options in ({"minutes": "soon"}, {"minutes": "0"}, {"minutes": "5", "recorded": True}):
        with pytest.raises(tasks.Exit, match="--minutes"):
            tasks.reproduce.body(Context(), figure="6", **options)


def test_an_experiment_without_a_number_is_named():
    command = measurement.command(catalogue.find("availability"), "quick", "auto", {})
    assert command == "./lab reproduce --experiment availability"


def test_only_a_dataset_with_open_claims_is_gone_on_with():
    """Open: its blocks do not decide yet, and more of them might."""
    world = World({"x": 0.3}, {"x": 20})

    def is_open():
        known = [each.to_dict() for each in world.contrasts]
        data = SimpleNamespace(slices=world.snapshot().slices, manifest={"contrasts": known})
        return measurement._is_open(data, world.judge)

    assert is_open()
    for number in range(1, LOOKS[0] + 1):
        assert is_open()
        world.measure_block(world.contrasts[0], number)
    assert not is_open()
