"""Several hosts as the user gives them, and what is refused before anything is started on them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab.error import LabError
from ndblab.experiments import catalogue, several_hosts


def test_a_name_with_toml_is_a_file_and_anything_else_a_list(tmp_path: Path):
    """A file that is not there is one message."""
    assert [h.name for h in several_hosts.read("me@db1,db2")] == ["db1", "db2"]
    file = tmp_path / "hosts.toml"
    file.write_text('[[host]]\nname = "box"\n')
    assert [h.name for h in several_hosts.read(str(file))] == ["box"]
    with pytest.raises(LabError, match="cannot be read") as caught:
        several_hosts.read(str(tmp_path / "none.toml"))
    assert caught.value.found == "No such file or directory"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("availability", "faults"),
        ("tpc-c", "sysbench's own scripts"),
        ("tpc-h", "sysbench's own scripts"),
        ("engines", "installations"),
    ],
)
def test_an_experiment_that_only_one_host_can_carry_is_refused(name: str, why: str):
    """The message says why, and names one that can be measured."""
    with pytest.raises(LabError, match=name) as caught:
        several_hosts.refuse_unsuitable(catalogue.find(name))
    assert why in caught.value.found
    assert "multi-server-scaling" in caught.value.expected


@pytest.mark.parametrize("name", ["multi-server-scaling", "thread-balance"])
def test_experiments_about_servers_and_threads_are_not(name: str):
    """They need nothing but sysbench's own scripts, and addresses of servers."""
    several_hosts.refuse_unsuitable(catalogue.find(name))


def test_a_clock_that_is_off_by_minutes_is_refused():
    """What happened on two hosts could not be put in order."""
    wrong = SimpleNamespace(clock_offset=lambda: (-180_000.0, 0.1))
    with pytest.raises(LabError, match="host db2") as caught:
        several_hosts._clock_ms("db2", wrong)
    assert "-180.0 s" in caught.value.found
    assert "timedatectl" in caught.value.next_step
    right = SimpleNamespace(clock_offset=lambda: (0.42, 0.1))
    assert several_hosts._clock_ms("db2", right) == 0.4
