"""What the installed programs say of settings, in their own output, shortened."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.comparing import installed, knobs

CAPTURED = Path(__file__).parents[1] / "captured/settings"


def captured(name: str) -> str:
    """Return what a program printed."""
    return (CAPTURED / name).read_text()


def test_variables_are_read_with_their_values() -> None:
    """From mysqld 9.7.4; a variable without a default reads as empty, like an empty value."""
    variables = installed.variables(captured("mysqld_verbose_help.txt"))
    assert variables["ndb_batch_size"] == "32768"
    assert variables["ndb_join_pushdown"] == "TRUE"
    assert variables["admin_address"] == variables["ndb_recv_thread_cpu_mask"] == ""
    assert not any(" " in name for name in variables)


def test_parameters_are_read_by_section() -> None:
    """From ndb_mgmd 9.7.4; parameters that identify a node do not count."""
    sections = installed.parameters(captured("ndb_mgmd_full_config.txt"))
    assert set(sections) == {"ndbd default", "mysqld default", "tcp default", "shm default"}
    assert sections["ndbd default"]["SchedulerSpinTimer"] == "0"
    assert sections["tcp default"]["Checksum"] == "0"
    assert sections["shm default"]["Checksum"] == "1"
    assert not {"NodeId", "HostName"} & set(sections["ndbd default"])


def test_what_the_programs_know_can_be_compared_too() -> None:
    """It takes the dearest design; files and ports are excepted."""
    variables = installed.variables(captured("mysqld_verbose_help.txt"))
    others = installed.unlisted(variables, {"ndbd default": {"MaxNoOfTables": "128"}})
    assert knobs.find("innodb_log_buffer_size", others).change == knobs.INITIAL
    assert knobs.find("MaxNoOfTables", others).section == "ndbd default"
    assert "datadir" not in {knob.name for knob in others}


@pytest.mark.parametrize(
    ("text", "value"), [("on", 1), ("Off", 0), ("true", 1), ("no", 0), ("0", 0), ("5", 5)]
)
def test_a_switch_of_config_ini_takes_any_usual_word(text: str, value: int) -> None:
    """The management node itself refuses "on"."""
    params = installed.parameters(captured("ndb_mgmd_full_config.txt"))
    knob = knobs.find("ndbd default:RequireCertificate", installed.unlisted({}, params))
    assert knobs.value(knob, text) == value
    number = knobs.find("ndbd default:MaxNoOfAttributes", installed.unlisted({}, params))
    assert knobs.value(number, "on") == "on"


def test_a_refusal_is_told_in_the_program_s_words() -> None:
    """The line that names the setting, and the legal values."""
    assert installed.refused(captured("ndb_mgmd_illegal_value.txt")).found == (
        "at line 3: Illegal value 9999 for parameter SchedulerSpinTimer. "
        "Legal values are between 0 and 500"
    )
