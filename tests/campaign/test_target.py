"""The lab process that faults are injected into."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from campaign.target import CRASHED, INTERRUPTED, MEASURED, REPORTED, Job

PORT = 14960
KILLED = -signal.SIGKILL
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def run(job: Job, body: str) -> subprocess.CompletedProcess:
    """Run a target whose measurement is `body`, in a process of its own."""
    program = f"import json, sys\nfrom campaign import target\n{body}\n"
    program += "target.measure = measure\n"
    program += "sys.exit(target.main(target.Job(**json.loads(sys.argv[1]))))\n"
    argv = [sys.executable, "-c", program, job.to_json()]
    return subprocess.run(argv, env=ENVIRONMENT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("pass", MEASURED, ""),
        ("from ndblab.error import LabError; raise LabError('No disk')", REPORTED, "No disk."),
        ("open('/nowhere/file')", REPORTED, "/nowhere/file: No such file or directory."),
        ("raise OSError(28, 'No space left')", CRASHED, "Traceback"),
        ("raise KeyboardInterrupt", INTERRUPTED, "interrupted"),
        ("1 / 0", CRASHED, "ZeroDivisionError"),
    ],
)
def test_a_target_ends_as_the_lab_would(body: str, code: int, message: str):
    """One message is one thing, a traceback another: no user should see the latter."""
    done = run(Job("runs", PORT), f"def measure(job): {body}")
    assert done.returncode == code
    assert message in json.loads(done.stdout)["text"]


@pytest.mark.parametrize(("fault", "code"), [("SIGKILL", KILLED), ("SIGINT", INTERRUPTED)])
def test_a_target_injects_the_fault_at_its_failpoint(fault: str, code: int):
    """It reports the injection before it dies."""
    job = Job("runs", PORT, fault=fault, failpoint="os.rename", call=1)
    done = run(job, "def measure(job):\n import os\n os.rename('/nowhere', '/nothing')")
    assert done.returncode == code
    assert json.loads(done.stdout.splitlines()[0])["injected"] == "os.rename"


def test_a_target_ends_with_its_campaign():
    """A campaign that is killed leaves no measurement running."""
    program = "import time\nfrom campaign import target\ntarget.end_with_campaign()\n"
    argv = [sys.executable, "-c", f"{program}print(flush=True)\ntime.sleep(60)\n"]
    with subprocess.Popen(
        argv, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        child.stdout.readline()
        assert child.poll() is None
        child.stdin.close()
        assert child.wait(20) == -signal.SIGTERM


def test_a_target_counts_the_calls_of_each_failpoint():
    """That is how faults are placed at calls that are made."""
    job = Job("runs", PORT, count=True)
    done = run(
        job,
        "def measure(job):\n import os\n"
        " for n in range(3):\n  os.fsync(os.open('/tmp', os.O_RDONLY))",
    )
    calls = json.loads(done.stdout)["calls"]
    assert calls == {"os.fsync": 3}
