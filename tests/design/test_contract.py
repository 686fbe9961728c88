"""What every experiment keeps, the lab's and the user's own (`./lab test --experiment ./mine`)."""

from __future__ import annotations

import json
import os

import pytest

from ndblab import discovery, figures
from ndblab.design import catalogue, contract
from ndblab.design.experiment import Experiment
from ndblab.error import LabError
from ndblab.judging import answers
from ndblab.measuring import dry_run
from ndblab.measuring.request import Request
from ndblab.publishing import notebook

OWN = [
    catalogue.find(place) for place in filter(None, os.environ.get(discovery.OWN, "").split(":"))
]
EVERY = OWN or list(catalogue.every().values())
MEASURED = [experiment for experiment in EVERY if experiment.grid]


def every(experiments: list[Experiment]) -> pytest.MarkDecorator:
    """Parametrise a test by experiments."""
    return pytest.mark.parametrize("experiment", experiments, ids=lambda e: e.name)


@every(EVERY)
def test_its_notebook_can_be_executed_with_parameters(experiment: Experiment):
    """It has one cell of parameters; one that measures can be told from where its data come."""
    known = notebook.parameters(catalogue.notebook(experiment))
    assert not experiment.grid or "dataset" in known


@every(EVERY)
def test_its_figures_can_be_drawn(experiment: Experiment):
    """Each has an entry in a module `figure`, with a question."""
    for key in experiment.figures:
        assert figures.entries()[key].question.endswith("?")


@every(EVERY)
def test_it_answers_its_question(experiment: Experiment):
    """In words of its own, and the question is one."""
    assert experiment.question.endswith("?")
    discovery.modules("answer")
    assert not experiment.grid or experiment.name in answers.ANSWERS


@pytest.mark.parametrize("size", ["smoke", "quick", "brief"])
@every(MEASURED)
def test_it_has_a_sweep_of_every_size(experiment: Experiment, size: str):
    """Each point has a cluster, and each variant has points unless contrasts alone measure it.

    Every run of faults has one; in the smoke profile there are two of them.
    """
    todo = experiment.sweep(experiment.size(size))
    faults = {v.name for v in experiment.variants if v.fault}
    variants = {v.name for v in experiment.variants if not v.contrasts_only}
    variants -= faults and {"default"}
    points = {p.variant for p in todo.points}
    assert points == variants or (points < variants and faults and size == "smoke")
    assert len({p.run_id(1) for p in todo.points}) == len(todo.points)


@pytest.mark.parametrize("size", ["smoke", "quick", "brief"])
@every(MEASURED)
def test_it_is_not_refused_before_it_is_measured(experiment: Experiment, size: str):
    """Its variants, contrasts and workloads are there; each side has the cluster it needs."""
    contract.check(experiment, experiment.size(size))


@every(MEASURED)
def test_its_settings_can_be_written_to_a_manifest(experiment: Experiment):
    """They are part of a dataset's identity."""
    for variant in experiment.variants:
        assert json.loads(json.dumps(variant.to_dict())) is not None


@every([e for e in MEASURED if not e.hosts and not e.compares_engines])
def test_a_dry_run_shows_every_command(experiment: Experiment):
    """For the brief's host, without starting any."""
    try:
        shown = dry_run.dry_run(experiment, Request("smoke"), "brief")
    except LabError as error:
        # Some take programs that only `./lab install --tools` adds.
        pytest.skip(str(error).partition("\n")[0])
    assert experiment.question in shown
    assert "ndbmtd" in shown
