"""What adding an experiment takes: an entry of the catalogue, a notebook and a check.

A copy of the lab gets a made-up experiment, on a double of the cluster: two variants that differ in
parameters of the cluster and of the load, under a script of sysbench that no other experiment has.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
ENTRY = """
    Experiment(
        "made-up",
        "Do reads gain from a larger pool?",
        "99_made_up.ipynb",
        figures=(),
        claims=("R-nosql",),
        grid=grids.every_variant,
        workload="oltp_read_only",
        variants=(
            Variant(),
            Variant(
                "larger",
                config_ini={"ndbd default": {"SharedGlobalMemory": "128M"}},
                my_cnf={"table_open_cache": 4000},
                options={"point-selects": 1},
            ),
        ),
    ),"""
CHECK = '''

@check("R-nosql")
def pool(claim: Claim, evidence: Evidence) -> Finding:
    """Decide by the number of runs."""
    return Finding("reproduced", f"{len(evidence.good)} runs counted")
'''
CELLS = (
    'dataset = "recorded"  # "recorded", "measure", or the folder of a dataset',
    "from ndblab.analysis import ratio_tables\n"
    "from ndblab.experiments import recorded\n"
    "from ndblab.publishing import show, verdict_tables",
    'measured = recorded.obtain("made-up", dataset)\nshow.provenance(measured)',
    "judged = verdict_tables.of(measured)\nshow.answer(measured, judged)",
    'ratios = ratio_tables.variants(measured.runs, ["larger"], workload="oltp_read_only")\n'
    'show.table(ratios, "ratios")',
    "show.verdicts(judged)",
)
MEASURE = """
import contextlib
from pathlib import Path
from types import SimpleNamespace

import small_runs
from ndblab import install
from ndblab.cluster import start_stop
from ndblab.experiments import catalogue, dry_run, measurement
from ndblab.planning import config
from ndblab.workloads import measured_run, sysbench
from ndblab.workloads.load_generator import Filled

@contextlib.contextmanager
def running(plan, binaries, progress, sites, links):
    folder = Path(plan.places.cluster_dir)
    folder.mkdir(exist_ok=True)
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
options = {"clients": "2,4", "servers": 1, "repeats": 2}
experiment = catalogue.find("made-up")
print(measurement.measure(experiment, "smoke", "shared", options, progress=False).path)
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the lab with three files changed."""
    lab = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "lib", lab / "lib", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "data/brief", lab / "data/brief")
    shutil.copy(ROOT / "tasks.py", lab)
    catalogue = lab / "lib/ndblab/experiments/catalogue/the_lab.py"
    head, end, tail = catalogue.read_text().partition("\n)  # fmt: skip\n")
    assert end
    catalogue.write_text(head + ENTRY + end + tail)
    with (lab / "lib/ndblab/claims/checks/throughput.py").open("a") as checks:
        checks.write(CHECK)
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, CELLS)))
    notebook.cells[0].metadata["tags"] = ["parameters"]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.metadata["kernelspec"] = kernel
    (lab / "notebooks").mkdir()
    nbformat.write(notebook, lab / "notebooks/99_made_up.ipynb")
    return lab


def in_lab(lab: Path, *argv: str | Path) -> str:
    """Run a program in the copy; what it prints."""
    paths = os.pathsep.join([str(lab / "lib"), str(ROOT / "tests")])
    environment = os.environ | {"PYTHONPATH": paths, "NDBLAB_CLUSTER_DIR": str(lab / "cluster")}
    done = subprocess.run(
        argv, cwd=lab, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_an_entry_a_notebook_and_a_check_make_an_experiment(lab: Path):
    """Measured with its parameters in commands and files, judged by its check, on its page."""
    *commands, dataset = in_lab(lab, sys.executable, "-c", MEASURE).splitlines()
    larger = [line for line in commands if "--point-selects=1" in line]
    assert (len(commands), len(larger)) == (8, 4)
    assert all("oltp_read_only" in line for line in commands)
    folder = Path(dataset)
    assert "SharedGlobalMemory=128M" in (folder / "config/larger.config.ini").read_text()
    assert "table_open_cache=4000" in (folder / "config/larger.my.cnf").read_text()
    assert "table_open_cache" not in (folder / "config/my.cnf").read_text()
    variants = json.loads((folder / "manifest.json").read_text())["variants"]
    assert variants["larger"]["options"] == {"point-selects": 1}

    invoke = Path(sys.executable).with_name("invoke")
    printed = in_lab(lab, invoke, "reproduce", "--experiment", "made-up", "--dataset", folder)
    assert "R-nosql" in printed
    assert "Of 1 claim:" in printed
    [page] = (lab / "out").glob("*/*.html")
    assert "8 runs counted" in page.read_text()
