"""From an experiment's name to its data, its points and its verdicts."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ndblab import formatting
from ndblab.design import catalogue, time_needed
from ndblab.error import LabError
from ndblab.judging import publication
from ndblab.measuring import recorded
from ndblab.measuring.request import Request
from ndblab.publishing import notebook, rendering, reproduction, verdict_tables
from ndblab.publishing.notebook import exhibit

SCALING = catalogue.find(figure=6)
MEASURED = [e for e in catalogue.every().values() if e.grid]


def invoke(*arguments: str, stdout: int | io.TextIOBase = subprocess.PIPE):
    """Run a command of the lab as `./lab` does."""
    argv = [sys.executable, recorded.ROOT / "tasks.py", *arguments]
    streams = {"stdout": stdout, "stderr": subprocess.PIPE, "text": True}
    return subprocess.run(argv, cwd=recorded.ROOT, **streams, check=False)


def printed(*arguments: str) -> str:
    """What a command of the lab prints, which ends well."""
    done = invoke(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_points_that_leave_servers_idle_are_in_the_briefs_program_only():
    """Fewer clients than servers repeat a smaller cluster: only the brief's own sweep has them."""
    quick = SCALING.sweep(SCALING.size("quick")).points
    assert all(point.clients >= point.servers for point in quick)
    assert len(SCALING.sweep(SCALING.size("brief")).points) == 5 * 13


def test_the_default_sweep_leaves_most_of_the_time_to_contrasts():
    """By the lab's own estimate, which it prints before it starts."""
    assert time_needed.sweep_s(SCALING, SCALING.size("quick")) < time_needed.LEAST_S["quick"] / 3


@pytest.mark.parametrize("experiment", [e for e in MEASURED if e.claims], ids=lambda e: e.name)
def test_every_claim_of_an_experiment_is_judged_by_its_recorded_dataset(experiment):
    """Each claim gets a verdict and a reason; no check crashed."""
    table = verdict_tables.of(recorded.obtain(experiment.name))
    assert len(table) > 0
    assert table["reason"].str.len().min() > 10
    assert not table["reason"].str.contains("crashed").any()


@pytest.mark.parametrize("experiment", MEASURED, ids=lambda e: e.name)
def test_the_recorded_datasets_are_what_they_say(experiment):
    """Its own budget, repeated runs (or one of an hour), few failures, nobody beside it.

    What the hypervisor takes forbids no recording: the claims that it disturbs say so.
    """
    data = recorded.obtain(experiment.name)
    assert data.complete
    assert data.budget == {"auto": "scaled"}.get(experiment.budget, experiment.budget)
    long = data.runs["duration_s"].min() >= 3600
    faults = any(variant.fault for variant in experiment.variants)
    enough = 2 if faults else 3
    assert long or data.manifest["profile"]["repeats"] >= enough
    assert recorded.good_enough(data)
    assert not data.runs["company_pct"].mean() >= 6
    assert "dirty" not in data.manifest["git_commit"]


def test_figure_1_is_recorded_for_an_hour():
    """A sample a second of 3600 s, few of them late, after 120 s of warm-up, without samples."""
    data = recorded.obtain("stability")
    assert data.manifest["profile"]["warmup_s"] == 120
    assert len(data.intervals) >= 0.99 * 3600


def test_figures_of_two_hosts_have_names_of_their_own():
    """Figures 2 and 3 are drawn for the brief's server and for another, none over the other."""
    drawn = shown(catalogue.find(figure=2))
    assert {d.key for d in drawn} == {"2", "3", "2-host", "3-host"}
    assert len({d.file for d in drawn}) == len({d.name for d in drawn}) == 4


@pytest.mark.parametrize("experiment", catalogue.every().values(), ids=lambda e: e.name)
def test_a_notebook_shows_the_figures_of_its_experiment(experiment):
    """All of them, in their order; each with its question and its words."""
    drawn = shown(experiment)
    beside = ("-host", "who-runs-where")
    assert [d.key for d in drawn if not d.key.endswith(beside)] == list(experiment.figures)
    assert all(d.question.endswith("?") and len(d.alt) > 50 for d in drawn)


def shown(experiment) -> list[exhibit.Picture]:
    """Give the pictures of an experiment's committed notebook."""
    page = notebook.read(catalogue.notebook(experiment))
    return [shown for shown, _ in exhibit.pictures(page)]


def test_a_dataset_of_another_experiment_is_refused(tmp_path: Path):
    """A notebook never shows the data of another question."""
    copy = shutil.copytree(recorded.folder(SCALING), tmp_path / "copy")
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "experiment": "tea"}))
    with pytest.raises(LabError, match="another experiment"):
        recorded.obtain(SCALING.name, str(copy))


def test_the_first_command_of_the_readme_comes_early():
    """The page is one screen and a half, and every page that it names is there."""
    lines = rendering.README.read_text().splitlines()
    assert len(lines) <= 120
    assert next(n for n, line in enumerate(lines, 1) if line.startswith("    ./lab")) < 30
    linked = re.findall(r"\]\(((?:docs|lib|data|notebooks)/[^)#]+)", "\n".join(lines))
    assert [name for name in linked if not (recorded.ROOT / name).exists()] == []


def test_figure_6_agrees_with_the_sentence_about_it():
    """Both say whether 16 servers gave fewer queries/s than 8 or more, and by as much.

    A percentage may stand for a ratio; a point of difference is rounding.
    """
    page = notebook.read(catalogue.notebook(SCALING))
    [alt] = [picture.alt for picture, _ in exhibit.pictures(page) if picture.file == "figure6"]
    begin = f"- [{SCALING.question}]("
    results = rendering.RESULTS.read_text()
    [line] = [line for line in results.splitlines() if line.startswith(begin)]
    drawn, said = _step(alt), _step(line.removeprefix(begin).partition(")")[2])
    assert drawn == pytest.approx(said, abs=1)


def _step(text: str) -> float:
    """Return by how many percent 16 servers gave more than 8 by the first sentence about both.

    It is 0 where that leaves it open.
    """
    parts = re.split(r"[;:]|\. ", text)
    sentence = next(part for part in parts if re.search(r"\b16 (servers|gave).*\b8\b", part))
    if re.search("no clear change|neither clearly|as many as|within the error", sentence):
        return 0.0
    if ratio := re.search(r"([\d.]+) times", sentence):
        return 100 * (float(ratio[1]) - 1)
    size, word = re.search(r"([\d.]+) % (fewer|less|more)", sentence).groups()
    return float(size) * (1 if word == "more" else -1)


def test_reproduce_recorded_ends_with_one_screen(verdicts):
    """The answer, a verdict on a line, and where figures, page and dataset are."""
    lines = printed("reproduce", "--figure", "6", "--recorded").rstrip().splitlines()
    assert len(lines) <= 25
    row = verdicts[verdicts["id"] == "P-tc"].iloc[0]
    assert re.search("16 servers did .* queries than 8", lines[1])
    [line] = [line for line in lines if row.id in line]
    assert line.startswith(row.verdict)
    figures, *places = (recorded.ROOT / line.split()[-1] for line in lines[-3:])
    assert {file.suffix for file in figures.iterdir()} >= {".png", ".svg", ".ipynb", ".html"}
    assert all(place.exists() for place in places)


def test_a_full_disk_under_the_results_is_one_message(tmp_path: Path):
    """It is not called a crash or a lack of memory."""
    experiment = catalogue.find("the-brief")
    page = tmp_path / experiment.name / Path(experiment.notebook).name
    page.parent.mkdir()
    page.symlink_to("/dev/full")
    with pytest.raises(LabError, match="The disk is full") as caught:
        reproduction.reproduce([experiment], "recorded", Request(), tmp_path)
    assert caught.value.found == os.strerror(errno.ENOSPC)


@pytest.mark.slow
def test_reproduce_all_recorded_fits_a_screen():
    """Per experiment its tally and what fits of its answer; at the end where the pages are."""
    lines = printed("reproduce", "--all", "--recorded").splitlines()
    assert len(lines) <= 40
    assert all(len(line) <= 100 for line in lines)
    for experiment in catalogue.every().values():
        assert sum(line.startswith(f"{experiment.name}: ") for line in lines) == 1
    assert lines[-1].startswith("pages: out/")


def test_a_claim_is_explained(verdicts):
    """Statement, source with its place, conditions, numbers and reason, dataset."""
    text = " ".join(printed("claims", "--id", "F6-peak,T-low").split())
    for row in verdicts[verdicts["id"].isin(["F6-peak", "T-low"])].itertuples():
        [claim] = [claim for claim in publication.claims() if claim.id == row.id]
        notes = formatting.sentences(claim.conditions), formatting.sentences(row.reason)
        for part in (claim.statement, claim.locator, *notes, row.dataset):
            assert " ".join(part.split()) in text


def test_a_table_of_the_brief_is_printed_and_kept():
    """--table 1 shows the published hardware beside this host's, and writes it as CSV."""
    text = printed("reproduce", "--table", "1", "--recorded")
    assert "EPYC 7742" in text
    [line] = [line for line in text.splitlines() if line.startswith("table 1  ")]
    assert "PowerEdge" in (recorded.ROOT / line.split()[-1]).read_text()


def test_claims_for_machines_are_csv_with_the_agreed_columns():
    """One line for every claim of the sources, measured or not."""
    table = list(csv.DictReader(io.StringIO(printed("claims", "--csv"))))
    assert list(table[0]) == [
        "id", "verdict", "reason", "published", "measured", "low", "high", "unit", "dataset",
    ]  # fmt: skip
    assert len(table) > 100
    assert len({row["id"] for row in table}) == len(table)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce"], "Say what to reproduce"),
        (["reproduce", "--figure", "66"], "Unknown figure"),
        (["reproduce", "--figure", "6", "--profile", "huge"], "Unknown profile"),
        (["reproduce", "--figure", "6", "--clients", "0"], "--clients is not usable"),
        (["reproduce", "--figure", "6", "--servers", "300"], "--servers is not usable"),
        (["reproduce", "--figure", "6", "--dataset", "/nowhere"], "This is not a dataset"),
        (["reproduce", "--figure", "6", "--table-size", "10000000000"], "too little"),
        (["config", "--host", "/nowhere.json"], "cannot be read"),
        (["bench", "--only", "tea"], "tea"),
        (["claims", "--id", "F6-peek"], "Unknown claim"),
        (["reproduce", "--figure", "6", "--hosts", "a,b", "--attach", "c"], "where the cluster"),
        (["reproduce", "--figure", "6", "--experiment", "stability"], "no such figure"),
    ],
)
def test_a_users_mistake_gives_one_message_and_no_traceback(arguments, message):
    """Exit status 1, the message on standard error, and nothing was started."""
    done = invoke(*arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize("arguments", [["cluster.status"], ["experiments"], ["claims", "--csv"]])
def test_a_full_disk_behind_standard_output_is_one_message(arguments):
    """However much is printed: a little of it fails at the end only."""
    with open("/dev/full", "w") as full:
        done = invoke(*arguments, stdout=full)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "No space left on device" in done.stderr


def test_the_configuration_of_the_brief_can_be_written(tmp_path: Path):
    """Both files, with the published parameters."""
    printed("config", "--host", "brief", "--out", str(tmp_path))
    assert "NumCPUs=32" in (tmp_path / "config.ini").read_text()
    assert "[mysqld.16]" in (tmp_path / "my.cnf").read_text()


def test_the_doctor_describes_the_host_as_data_that_can_be_planned_for(tmp_path: Path):
    """What it prints is what `config --host` takes."""
    (tmp_path / "host.json").write_text(printed("doctor", "--json"))
    assert "[ndbd default]" in printed("config", "--host", str(tmp_path / "host.json"))
