"""From an experiment's name to its data, its points and its verdicts."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ndblab import experiments, measurement, reproduction
from ndblab.error import LabError

SCALING = experiments.find(figure=6)


def invoke(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """Type a command of the lab."""
    program = Path(sys.executable).with_name("invoke")
    return subprocess.run(
        [program, *arguments],
        cwd=experiments.ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_figures_6_and_7_are_one_experiment():
    """Either number, as text or not, leads to the same sweep."""
    assert experiments.find(figure="7") is SCALING
    assert experiments.find(name="multi-server-scaling") is SCALING


@pytest.mark.parametrize("what", [{"figure": 99}, {"name": "tea"}])
def test_an_unknown_figure_or_experiment_is_refused_with_the_known_ones(what):
    """The message lists what there is."""
    with pytest.raises(LabError, match="no such") as caught:
        experiments.find(**what)
    assert "expected" in str(caught.value)


def test_points_that_leave_servers_idle_are_in_the_briefs_program_only():
    """Fewer clients than servers repeat a smaller cluster: only the brief's own sweep has them."""
    quick = SCALING.sweep(SCALING.size("quick")).points
    assert all(point.clients >= point.servers for point in quick)
    assert len(SCALING.sweep(SCALING.size("brief")).points) == 5 * 13


def test_the_default_measurement_takes_at_most_six_minutes():
    """By the lab's own estimate, which it tells before it starts."""
    assert measurement.estimate_s(SCALING, SCALING.size("quick")) < 360


def test_every_claim_of_the_experiment_is_judged_by_the_recorded_dataset():
    """All of Figures 6 and 7 get a verdict and a reason; none crashed."""
    table = experiments.verdicts(experiments.obtain(SCALING.name))
    assert {"F6-peak", "F6-double-servers", "F7-doubling"} <= set(table["id"])
    assert table["reason"].str.len().min() > 10
    assert not table["reason"].str.contains("crashed").any()


def test_the_recorded_dataset_is_what_it_says():
    """Scaled, at least three runs a point of at least 8 s, none failed, a quiet host."""
    data = experiments.obtain(SCALING.name)
    assert data.complete
    assert data.budget == "scaled"
    assert data.runs.groupby(["servers", "clients"]).size().min() >= 3
    assert data.runs["duration_s"].min() >= 8
    assert (data.runs["status"] == "ok").all()
    assert data.runs["host_steal_pct"].mean() < 1


def test_a_dataset_of_another_experiment_is_refused(tmp_path: Path):
    """A notebook never shows the data of another question."""
    import json
    import shutil

    copy = shutil.copytree(experiments.recorded(SCALING), tmp_path / "copy")
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "experiment": "tea"}))
    with pytest.raises(LabError, match="another experiment"):
        experiments.obtain(SCALING.name, str(copy))


def test_the_readme_shows_the_verdicts_of_the_recorded_dataset():
    """Its table is written by `./lab render`, not by hand."""
    readme = (experiments.ROOT / "README.md").read_text()
    assert reproduction.with_verdicts(readme) == readme


def test_reproduce_recorded_names_everything_that_it_made():
    """Figures, notebook, page and dataset, each of which is there; and a verdict for each claim."""
    done = invoke("reproduce", "--figure", "6", "--recorded")
    assert done.returncode == 0, done.stderr
    places = [line.split()[-1] for line in done.stdout.splitlines()[-7:]]
    assert all((experiments.ROOT / place).exists() for place in places)
    assert {Path(place).suffix for place in places} >= {".png", ".svg", ".ipynb", ".html"}
    assert "F6-double-servers" in done.stdout


def test_claims_for_machines_are_csv_with_the_agreed_columns():
    """One line for every claim of the sources, measured or not."""
    done = invoke("claims", "--csv")
    assert done.returncode == 0, done.stderr
    table = list(csv.DictReader(io.StringIO(done.stdout)))
    assert list(table[0]) == [
        "id", "verdict", "reason", "published", "measured", "low", "high", "unit", "dataset",
    ]  # fmt: skip
    assert len(table) > 100
    assert len({row["id"] for row in table}) == len(table)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce"], "Say what to reproduce"),
        (["reproduce", "--figure", "66"], "no such figure"),
        (["reproduce", "--figure", "6", "--profile", "huge"], "no such profile"),
        (["reproduce", "--figure", "6", "--clients", "0"], "--clients is not usable"),
        (["reproduce", "--figure", "6", "--servers", "300"], "--servers is too large"),
        (["reproduce", "--figure", "6", "--dataset", "/nowhere"], "There is no dataset here"),
        (["reproduce", "--figure", "6", "--table-size", "10000000000"], "too little"),
        (["config", "--host", "/nowhere.json"], "cannot be read"),
        (["bench", "--only", "tea"], "tea"),
    ],
)
def test_a_users_mistake_gives_one_message_and_no_traceback(arguments, message):
    """Exit status 1, the message on standard error, and nothing was started."""
    done = invoke(*arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_an_unknown_option_is_refused():
    """A misspelt option is never ignored."""
    done = invoke("reproduce", "--figure", "6", "--cleints", "8")
    assert done.returncode != 0
    assert "--cleints" in done.stderr + done.stdout


def test_the_configuration_of_the_brief_can_be_written(tmp_path: Path):
    """Both files, with the published parameters."""
    done = invoke("config", "--host", "brief", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "NumCPUs=32" in (tmp_path / "config.ini").read_text()
    assert "[mysqld.16]" in (tmp_path / "my.cnf").read_text()


def test_the_doctor_describes_the_host_as_data_that_can_be_planned_for(tmp_path: Path):
    """What it prints is what `config --host` takes."""
    described = invoke("doctor", "--json")
    (tmp_path / "host.json").write_text(described.stdout)
    done = invoke("config", "--host", str(tmp_path / "host.json"))
    assert "[ndbd default]" in done.stdout
