"""What is measured of several experiments, and what is said of those that are not."""

from __future__ import annotations

import dataclasses

import pytest

from ndblab.design import catalogue
from ndblab.measuring import measurement
from ndblab.publishing import notebook, processes, reproduction

WHY = "go-tpc is not installed, and there is no Go to build it (Install Go)"


class Measured(Exception):
    """Stands for the measurement of an experiment."""


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch):
    """TPC-C on a machine that lacks its load generator; measuring anything is noted."""

    def measure(experiment, **options):
        raise Measured(experiment.name)

    monkeypatch.setattr(measurement, "measure", measure)
    return dataclasses.replace(catalogue.find("tpc-c"), lacks=lambda: WHY)


def test_an_experiment_that_cannot_be_measured_is_left_out_of_several(
    lacking, monkeypatch, capsys, tmp_path
) -> None:
    """A line before the others are measured, and one after all of them."""
    monkeypatch.setattr(notebook, "prepare", lambda: None)
    monkeypatch.setattr(processes, "each", lambda *_: [])
    brief = catalogue.find(table=1)
    reproduction.reproduce([lacking, brief], None, "smoke", "auto", {}, None, tmp_path)
    said = capsys.readouterr()
    assert f"tpc-c is left out: {WHY}" in said.err
    assert f"tpc-c: not measured, {WHY}" in said.out


def test_alone_it_is_measured_which_says_what_to_install(lacking, tmp_path) -> None:
    """The error is that of its load generator."""
    with pytest.raises(Measured, match="tpc-c"):
        reproduction.reproduce([lacking], None, "smoke", "auto", {}, None, tmp_path)


def test_recorded_results_need_no_load_generator(lacking, tmp_path, monkeypatch) -> None:
    """Nothing is left out."""
    asked = []
    monkeypatch.setattr(notebook, "prepare", lambda: None)
    monkeypatch.setattr(processes, "each", lambda _, calls, *__: asked.extend(calls) or [])
    brief = catalogue.find(table=1)
    reproduction.reproduce([lacking, brief], "recorded", "quick", "auto", {}, None, tmp_path)
    assert [call[0].name for call in asked] == ["tpc-c", brief.name]
