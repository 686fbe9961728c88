"""What is measured of several experiments, and what is said of those that are not."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab.attach import measurement as attaching
from ndblab.design import catalogue
from ndblab.measuring import measurement, recorded
from ndblab.measuring.request import Request
from ndblab.publishing import notebook, processes, reproduction

WHY = "go-tpc is not installed, and there is no Go to build it (Install Go)"


class Measured(Exception):
    """Stands for the measurement of an experiment."""


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch):
    """TPC-C on a machine that lacks its load generator; measuring anything is noted."""

    def measure(experiment, request):
        raise Measured(experiment.name)

    monkeypatch.setattr(measurement, "measure", measure)
    return dataclasses.replace(catalogue.find("tpc-c"), lacks=lambda: WHY)


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """What would be published: each experiment with its source."""
    noted: list[tuple[str, str | None]] = []

    def run(_, calls, *__) -> list:
        noted.extend((experiment.name, source) for experiment, source, *_ in calls)
        return []

    monkeypatch.setattr(notebook, "prepare", lambda: None)
    monkeypatch.setattr(processes, "run", run)
    return noted


@pytest.mark.usefixtures("published")
def test_an_experiment_that_cannot_be_measured_is_left_out_of_several(
    lacking, capsys, tmp_path
) -> None:
    """A line before the others are measured, and one after all of them."""
    brief = catalogue.find(table=1)
    reproduction.reproduce([lacking, brief], None, Request("smoke"), tmp_path)
    said = capsys.readouterr()
    assert f"tpc-c is left out: {WHY}" in said.err
    assert f"tpc-c: not measured, {WHY}" in said.out


def test_alone_it_is_measured_which_says_what_to_install(lacking, tmp_path) -> None:
    """The error is that of its load generator."""
    with pytest.raises(Measured, match="tpc-c"):
        reproduction.reproduce([lacking], None, Request("smoke"), tmp_path)


def test_recorded_results_need_no_load_generator(lacking, published, tmp_path) -> None:
    """Nothing is left out."""
    brief = catalogue.find(table=1)
    reproduction.reproduce([lacking, brief], "recorded", Request(), tmp_path)
    assert [name for name, _ in published] == ["tpc-c", brief.name]


def test_a_dataset_is_of_one_experiment_and_recorded_data_are_of_the_others(
    published, tmp_path, monkeypatch
):
    """With --all; without --recorded nothing but its own experiment is published."""
    every = list(catalogue.every().values())
    path = str(recorded.folder(catalogue.find("dump")))
    options = every, path, Request(), tmp_path
    reproduction.reproduce(*options)
    assert published == [("dump", path)]
    published.clear()
    monkeypatch.setattr(recorded, "folder_named", lambda _: Path(path))
    reproduction.reproduce(every, "latest", Request(), tmp_path)
    assert published == [("dump", "latest")]
    published.clear()
    reproduction.reproduce(*options, rest_recorded=True)
    assert dict(published) == {known.name: "recorded" for known in every} | {"dump": path}


@pytest.mark.parametrize(
    ("where", "possible", "left_out"),
    [
        ({"hosts": "me@a,me@b,me@c"}, "multi-server-scaling", {"tpc-c", "network-cost", "engines"}),
        ({"attach": ("db1", "/x")}, "multi-server-scaling", {"tpc-c", "thread-balance", "engines"}),
        ({"engines": "A,B"}, "engines", set()),
        ({}, "multi-server-scaling", {"engines"}),
    ],
)  # fmt: skip
def test_of_several_experiments_those_without_a_place_are_left_out(
    where, possible, left_out, monkeypatch, published, tmp_path, capsys
):
    """Over hosts, and on a cluster that runs already, each with the reason."""
    measured = {}

    def measure(experiment, request):
        measured[experiment.name] = request
        return SimpleNamespace(path=tmp_path)

    monkeypatch.setattr(measurement, "measure", measure)
    monkeypatch.setattr(attaching, "measure", measure)
    every = [dataclasses.replace(e, lacks=(e.compares_engines and e.lacks) or None)
             for e in catalogue.every().values()]  # fmt: skip
    reproduction.reproduce(every, None, Request("smoke", **where), tmp_path)
    assert possible in measured
    assert not left_out & set(measured)
    said = capsys.readouterr().err
    assert all(f"{name} is left out: " in said for name in left_out)
    if "engines" in where:
        named = {name for name, request in measured.items() if request.engines}
        assert named == {"engines"}
    attached = Request("smoke", attach=("db1", "/x"))
    both = [catalogue.find("tpc-c"), catalogue.find("tpc-h")]
    texts = list(reproduction.dry_runs(both, attached))
    assert [text.split(" is")[0] for text in texts] == ["# tpc-c", "# tpc-h"]
