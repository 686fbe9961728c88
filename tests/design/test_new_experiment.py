"""An experiment of the user's own: a folder anywhere, and nothing of the library is changed.

It is measured on a double of the cluster, by the commands that a user types.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ndblab import discovery
from ndblab.design import catalogue, contract, own
from ndblab.error import LabError

ROOT = Path(__file__).resolve().parents[2]
MEASURE = """
import contextlib
import sys
from pathlib import Path
from types import SimpleNamespace

import small_runs
from ndblab import install
from ndblab.cluster import start_stop
from ndblab.design import catalogue
from ndblab.measuring import blocks, dry_run, measured_run, measurement
from ndblab.measuring.request import Request
from ndblab.planning import config
from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import Filled

@contextlib.contextmanager
def running(plan, binaries, progress, sites, links):
    folder = Path(plan.places.cluster_dir)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.ini").write_text(config.config_ini(plan))
    (folder / "my.cnf").write_text(config.my_cnf(plan, binaries.mysqld_version))
    def configuration(name):
        return (folder / name).read_text()

    shown = dict(configuration=configuration, limit=lambda quotas: None, lengthened_us=dict)
    yield SimpleNamespace(plan=plan, folder=folder, timings={}, **shown)

def measure(cluster, job, repeat):
    print(*sysbench.commands(job)[-1].argv)
    columns = job.point.columns(repeat)
    return measured_run.Run(small_runs.tables(columns.pop("run_id"), **columns))

binaries = dry_run._binaries("brief")
install.Binaries.fingerprint = lambda self: {}
install.find = install.ensure = lambda **options: binaries
start_stop.running, measured_run.measure = running, measure
sysbench.prepare = lambda cluster, job: Filled(1.0, job.profile.rows, {2: 1})
blocks.measure = lambda *asked: "the double has no slices"
measurement.RUNS = Path(sys.argv[2])
options = {"clients": "2,4", "servers": 1, "repeats": 2}
mine = catalogue.find(sys.argv[1])
print(measurement.measure(mine, Request("smoke", "shared", options, progress=False)).path)
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `./lab new` writes."""
    folder = tmp_path_factory.mktemp("user") / "mine"
    own.write(folder)
    return folder


def run(mine: Path, *argv: str | Path, **environment: str) -> str:
    """Run a program in another process; what it prints."""
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "lib"), str(ROOT / "tests")])
    environment["NDBLAB_CLUSTER_DIR"] = str(mine.parent / "cluster")
    done = subprocess.run(
        argv, cwd=mine.parent, env=os.environ | environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_is_written_is_short_enough_to_read(mine: Path):
    """Two variants, a script, a figure and an answer: 80 lines; and a notebook."""
    files = [f for f in mine.iterdir() if f.suffix in (".py", ".lua") and f.stem != "__init__"]
    assert sum(len(file.read_text().splitlines()) for file in files) <= 80
    assert (mine / "notebook.ipynb").exists()


def test_a_folder_outside_the_library_is_measured_and_shown(mine: Path):
    """Its variants reach the command lines; its figure and its answer are on its page."""
    invoke = Path(sys.executable).with_name("invoke")
    *commands, dataset = run(
        mine, sys.executable, "-c", MEASURE, str(mine), str(mine.parent / "runs")
    ).splitlines()
    wide = [line for line in commands if "--range_rows=100" in line]
    assert (len(commands), len(wide)) == (8, 4)
    assert all(f"{mine}/mine.lua" in line for line in commands)
    manifest = json.loads((Path(dataset) / "manifest.json").read_text())
    assert manifest["variants"]["wide"]["options"] == {"range_rows": 100}
    assert set(manifest["identity"]["files"]) == {"__init__.py", "experiment.py", "mine.lua"}

    argv = [invoke, "--search-root", ROOT, "reproduce", "--experiment", mine]
    printed = run(mine, *argv, "--dataset", dataset)
    assert "What do wider range scans cost?" in printed
    assert "figure-mine" in printed


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mine", "must not exist"),
        ("Mine", "cannot be the name"),
        ("größe", "cannot be the name"),
        ("tpc_c", "of this name"),
        ("scaling", "of this name"),
        ("ndb_api", "of this name"),
        ("tune", "of this name"),
    ],
)
def test_a_name_that_cannot_be_is_refused(mine: Path, name: str, message: str):
    """Before anything is written."""
    with pytest.raises(LabError, match=message):
        own.write(mine.parent / name)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch):
    """What a test adds is forgotten after it."""
    monkeypatch.setenv(discovery.OWN, "")
    yield
    monkeypatch.setenv(discovery.OWN, "")
    discovery.modules.cache_clear()
    catalogue._known.cache_clear()
    for name in [*sys.modules]:
        if name.startswith(f"{discovery.PACKAGE}.other"):
            del sys.modules[name]


def test_a_changed_script_is_another_measurement(tmp_path: Path, alone):
    """So runs of both never stand in one dataset; a changed answer only explains again."""
    own.write(tmp_path / "other")
    experiment = catalogue.find(f"{tmp_path}/other")
    before = catalogue.own_files(experiment)
    for name in ("answer.py", "other.lua"):
        file = tmp_path / "other" / name
        file.write_text(file.read_text() + "\n")
    after = catalogue.own_files(experiment)
    assert {name for name in before if before[name] != after[name]} == {"other.lua"}
    assert catalogue.own_files(catalogue.find("tls")) == {}


def test_a_script_named_like_a_load_of_the_lab_is_refused(tmp_path: Path, alone):
    """Else the lab's would run in its place."""
    own.write(tmp_path / "other")
    for name in ("experiment.py", "other.lua"):
        file = tmp_path / "other" / name
        text = file.read_text().replace('workload="other"', 'workload="oltp_in_lists"')
        file.with_name(name.replace("other.lua", "oltp_in_lists.lua")).write_text(text)
    experiment = catalogue.find(f"{tmp_path}/other")
    with pytest.raises(LabError, match="same name as this script"):
        contract.check(experiment, experiment.size("smoke"))


def test_tables_of_ones_own_are_known_before_a_dataset_is_read(tmp_path: Path):
    """Their columns belong to what every table is checked by."""
    own.write(tmp_path / "other")
    (tmp_path / "other" / "tables.py").write_text('print("tables.py is read")\nSCHEMAS = {}\n')
    invoke = Path(sys.executable).with_name("invoke")
    argv = [invoke, "--search-root", ROOT, "reproduce", "--experiment", tmp_path / "other"]
    assert "tables.py is read" in run(tmp_path / "other", *argv, "--dry-run", "--host", "brief")


def test_a_folder_with_a_figure_of_another_experiment_is_refused(tmp_path: Path, alone):
    """As the name of one of the lab's is."""
    own.write(tmp_path / "other")
    assert catalogue.find(f"{tmp_path}/other", figure="other").name == "other"
    with pytest.raises(LabError, match="no such figure"):
        catalogue.find(f"{tmp_path}/other", figure=6)


def test_a_folder_that_is_no_experiment_is_refused(tmp_path: Path):
    """With the command that writes one."""
    with pytest.raises(LabError, match="no experiment") as caught:
        catalogue.find(f"{tmp_path}/")
    assert "./lab new" in caught.value.next_step


def test_a_mistake_in_a_folder_of_ones_own_is_one_message(tmp_path: Path, alone):
    """It names the file and what Python says of it."""
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "experiment.py").write_text("import no_such_module\n")
    with pytest.raises(LabError, match="cannot be imported") as caught:
        catalogue.find(str(folder))
    assert "no_such_module" in caught.value.found
