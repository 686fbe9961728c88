"""Processes that are not the lab's: from captured readings of /proc, and from real ones."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import psutil
import pytest

from ndblab.machine import interference as company
from ndblab.machine.local import LOCAL

CAPTURED = Path(__file__).parents[1] / "captured/proc_stat"
LAB, LOOP, TMUX, KERNEL = 8993, 8995, 8996, 2
"""A shell with a busy child; one whose busy children end one after the other; a sleeper whose name
has parentheses; kthreadd."""
SPIN = "while :; do :; done"


def reading(folder: Path, name: str, at_s: float) -> company.Reading:
    """Read a folder of processes as they were captured, on a host of two CPUs."""
    proc = folder / name
    for line in (CAPTURED / f"{name}.txt").read_text().splitlines():
        (proc / line.split()[0]).mkdir(parents=True)
        (proc / line.split()[0] / "stat").write_text(f"{line}\n")
    return company.read(proc, LAB, 2)._replace(at_s=at_s)


def test_all_processes_count_but_the_labs_and_the_kernels(tmp_path: Path):
    """The lab's child is the lab's, too; a name may hold spaces and parentheses."""
    before = reading(tmp_path, "before", 100)
    assert before.others.keys() == {1, LOOP, TMUX, 8997}
    assert before.others[TMUX].name == "tmux: (server)"
    assert before.others[8997].cpu_s == pytest.approx(0.21)


def test_a_process_that_ended_between_two_readings_is_not_missed(tmp_path: Path):
    """Its time has passed to its parent; what it had used before does not count."""
    before, after = reading(tmp_path, "before", 100), reading(tmp_path, "after", 101)
    used = company.between(before, after)
    assert 8997 not in after.others
    # Ticks of 10 ms: 2 of process 1, 23 - 21 of the shell with its ended child, 21 of the next.
    assert used == company.Company(12.5, "python3")
    assert company.between(before, before) == company.NO_COMPANY


def test_another_process_with_the_number_of_an_ended_one_is_a_new_one(tmp_path: Path):
    """All of its time counts, and none of the other's."""
    before, after = reading(tmp_path, "before", 100), reading(tmp_path, "after", 101)
    child = after.others[8998]
    recycled = {8998: child._replace(cpu_s=500.0, started_ticks=1)}
    again = before._replace(others={**before.others, **recycled})
    assert company.between(again, after).pct < 12.5


def test_company_above_the_limit_disturbs(monkeypatch: pytest.MonkeyPatch):
    """The line says who it is, and how busy."""
    monkeypatch.setattr(company, "LIMIT_PCT", 5)
    others = company.Company(31.2, "chromium")
    assert str(others) == "chromium uses 31 % of the CPUs"
    assert others.disturbs
    assert not company.Company(5.0, "cron").disturbs


def test_a_busy_process_is_company_unless_it_is_the_labs(tmp_path: Path):
    """One that has left the lab's family is company; a child of the lab is not."""
    guest = tmp_path / "busy-guest"
    guest.symlink_to("/bin/sh")
    own = subprocess.Popen(["sh", "-c", SPIN])
    subprocess.run(["sh", "-c", f"{guest} -c '{SPIN}' &"], check=True)
    try:
        before, pid = _arrived(guest.name)
        time.sleep(1)
        after = LOCAL.company()
        assert own.pid not in after.others
        alone = [seen._replace(others={pid: seen.others[pid]}) for seen in (before, after)]
        used = company.between(*alone)
        assert used.name == guest.name
        assert 1 < used.pct <= 100 / before.cpus + 5
    finally:
        own.kill()
        own.wait()
        for process in psutil.process_iter(["name"]):
            if process.info["name"] == guest.name:
                process.kill()


def _arrived(name: str, wait_s: float = 10) -> tuple[company.Reading, int]:
    """Return the first reading with a process of this name, and its number."""
    until = time.monotonic() + wait_s
    while time.monotonic() < until:
        reading = LOCAL.company()
        for pid, seen in reading.others.items():
            if seen.name == name:
                return reading, pid
    raise AssertionError(f"{name} did not start within {wait_s} s")
