"""The notebook of the lab itself, on slices made up with known effects."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import made_up_slices
import small_runs
from ndblab.dataset import SCHEMAS, Dataset
from ndblab.design import catalogue
from ndblab.experiments import the_lab_itself as trust
from ndblab.experiments.the_lab_itself import experiment as self_contrasts
from ndblab.measuring import recorded
from ndblab.publishing import show

EXPERIMENT = catalogue.find("the-lab-itself")
NOTEBOOK = catalogue.NOTEBOOKS / EXPERIMENT.notebook
RATIOS = {trust.NEIGHBOUR: 0.6, trust.SPINNER: 1.5, trust.SERVERS: 2.3, trust.SERVERS_AWAKE: 1.6}
COVERAGE = "interval,used_for,units,coverage_pct,low_pct,high_pct,draws,reason\n"


def made_up(blocks: int | None = None) -> Dataset:
    """Make the dataset of an experiment with so many blocks, or all of them, of each contrast."""
    size = EXPERIMENT.size("quick", {"repeats": 15})
    asked = self_contrasts.the_lab_itself(EXPERIMENT, size, pd.DataFrame())
    parts = [
        made_up_slices.of(
            contrast,
            blocks or contrast.blocks,
            ratio=RATIOS.get(contrast.name, 1.0),
            sd=(0.02, 0.03, 0.05),
        )
        for contrast in asked
    ]
    slices = pd.concat(parts, ignore_index=True)
    tables = {name: pd.DataFrame(columns=list(schema.columns)) for name, schema in SCHEMAS.items()}
    used = made_up_slices.processes(slices, {"a": 900.0, "b": 800.0})
    tables |= {"runs": small_runs.tables()["runs"], "slices": slices, "processes": used}
    other = recorded.folder(catalogue.find("thread-balance")) / "manifest.json"
    known = [contrast.to_dict() for contrast in asked]
    manifest = {**json.loads(other.read_text()), "experiment": EXPERIMENT.name, "contrasts": known}
    return Dataset(Path("made-up"), manifest, tables)


def shown(data: Dataset, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the cells of the notebook; give all words of the tables and texts that they show."""
    (folder / "data").mkdir()
    (folder / "data/coverage.csv").write_text(f"{COVERAGE}mean,runs,4,95.1,94.7,95.5,10000,\n")
    words: list[str] = []
    monkeypatch.setattr(recorded, "ROOT", folder)
    monkeypatch.setattr(recorded, "obtain", lambda *_: data)
    monkeypatch.setattr(show, "display", lambda it, **_: words.append(getattr(it, "data", "")))
    shell = InteractiveShell()
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code":
            with capture_output():
                done = shell.run_cell(cell.source.replace("%matplotlib inline", ""))
            done.raise_error()
            words.append(getattr(done.result, "data", ""))
    return "\n".join(words)


def test_it_answers_each_of_its_questions(tmp_path, monkeypatch):
    """Goals, false decisions, variance, designs, conditions and coverage, from the slices."""
    words = shown(made_up(), tmp_path, monkeypatch)
    for expected in (
        "6 goals: yes", "resampled analyses of 60 blocks", "Two slices of one block differ by",
        "How long until a ratio is known to within 2 % on either side: a-a takes ",
        "Beside a busy process, throughput is 0.59 times",
        "idle CPUs are a part of the gain", "95.1",
    ):  # fmt: skip
        assert expected in words


def test_a_single_block_of_each_contrast_gives_no_error(tmp_path, monkeypatch):
    """The smoke profile measures no more; what it cannot tell is open."""
    words = shown(made_up(1), tmp_path, monkeypatch)
    assert "open 4" in words
    assert "no interval yet" in words
