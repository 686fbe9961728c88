"""Two sides from the words of a user."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.comparing import sides
from ndblab.error import LabError


def said(parsed: sides.Sides) -> tuple[str, str, str]:
    """Return what A, B and both have, in words."""
    return tuple(" ".join(map(str, own)) for own in (parsed.a, parsed.b, parsed.both))


def test_one_setting_is_compared_with_the_default() -> None:
    """B has the setting."""
    assert said(sides.parse(["ndb_batch_size=64K"])) == ("", "ndb_batch_size=65536", "")


def test_two_values_of_a_setting_are_two_sides() -> None:
    """Sides follow the order of typing; a setting with a single value is for both."""
    parsed = sides.parse(["servers=8", "servers=16", "clients=64"])
    assert said(parsed) == ("servers=8", "servers=16", "clients=64")
    assert parsed.value("a", "servers") == 8
    assert parsed.value("b", "clients") == 64


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Say what to compare"),
        (["ndb_batch_size=64K", "ndb_batch_size=65536"], "differ in nothing"),
        (["servers=1", "servers=2", "servers=4"], "two sides"),
        (["nowhere/"], "neither a setting nor a side"),
    ],
)
def test_what_makes_no_two_sides_is_one_message(words: list[str], message: str) -> None:
    """Never a traceback, and never a comparison of a side with itself."""
    with pytest.raises(LabError, match=message):
        sides.parse(words)


def test_two_folders_differ_in_what_their_files_set(tmp_path: Path) -> None:
    """Who runs where is the lab's own affair; what is the same in both is no difference."""
    for name, spin, batch in (("before", "0", "32K"), ("after", "100", "64K")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.ini").write_text(
            f"[ndbd default]\nNoOfReplicas=2 # both\nSchedulerSpinTimer={spin}\n\n"
            "[ndbd]\nNodeId=2\nHostName=db1\n[shm default]\nShmSize=2M\n[computer]\nId=1\n"
        )
        (tmp_path / name / "my.cnf").write_text(
            f"[client]\nport=3306\n[mysqld]\nndbcluster\nsocket=/tmp/s\nndb-batch-size={batch}\n"
            "skip-log-bin\n"
        )
    known = [sides.Knob("NoOfReplicas", "config.ini", "ndbd default", "1..4", "initial", "x")]
    parsed = sides.parse([f"{tmp_path}/before", f"{tmp_path}/after"], known)
    assert said(parsed)[:2] == (
        "SchedulerSpinTimer=0 ndb_batch_size=32768",
        "SchedulerSpinTimer=100 ndb_batch_size=65536",
    )
    assert {str(s) for s in parsed.both} == {"NoOfReplicas=2", "ShmSize=2097152", "log_bin=OFF"}
    assert {line.partition(" of ")[0] for line in parsed.left_out} == {"[computer] Id"}


def test_files_of_a_windows_editor_are_read(tmp_path: Path) -> None:
    """They begin with a byte order mark, and their lines end with a carriage return."""
    (tmp_path / "config.ini").write_bytes(
        b"\xef\xbb\xbf[ndbd default]\r\nSpinMethod=CostBasedSpinning\r\n"
    )
    (tmp_path / "my.cnf").write_bytes(b"\xef\xbb\xbf[mysqld]\r\nndb_batch_size=64K\r\n")
    (tmp_path / "mine.toml").write_bytes(b'\xef\xbb\xbfndb_batch_size = "16K"\r\n')
    parsed = sides.parse([str(tmp_path), str(tmp_path / "mine.toml")])
    assert said(parsed)[:2] == (
        "SpinMethod=CostBasedSpinning ndb_batch_size=65536", "ndb_batch_size=16384",
    )  # fmt: skip


def test_my_cnf_is_read_as_mysqld_reads_it(tmp_path: Path) -> None:
    """A quoted "#" is no comment; files are included; [server] is read by every mysqld."""
    (tmp_path / "more.cnf").write_text("[server]\nndb-batch-size=64K # twice the default\n")
    (tmp_path / "my.cnf").write_text(
        "[mysqld]\ninit_connect='SET @a = \"#1\"' # for all\nloose-skip-ndb-join-pushdown\n"
        f"!include {tmp_path}/more.cnf\n"
    )
    known = [sides.Knob("init_connect", "mysqld", "mysqld", "", "live", "x")]
    assert said(sides.parse([str(tmp_path)], known))[1] == (
        'init_connect=SET @a = "#1" ndb_join_pushdown=OFF ndb_batch_size=65536'
    )
    (tmp_path / "my.cnf").write_text("ndb_batch_size=64K\n")
    with pytest.raises(LabError, match="cannot be read as MySQL reads it"):
        sides.parse([str(tmp_path)])


def test_files_and_places_of_nodes_in_a_configuration_are_no_difference(tmp_path: Path) -> None:
    """The lab has its own; a binary log is on or off, by whatever name."""
    (tmp_path / "config.ini").write_text(
        "[ndbd default]\nFileSystemPathDD=/nvme\nBackupDataDir=/b\nSchedulerSpinTimer=100\n"
    )
    (tmp_path / "my.cnf").write_text(
        "[mysqld]\nlog_bin=/var/log/mysql/bin\nslow_query_log_file=/x\nssl_ca=/ca.pem\n"
        "tmpdir=/dev/shm\ninit_file=/init.sql\nndb-mgmd-host=mgm1\nadmin_port=33062\n"
        "skip-mysqlx\nloose-mysqlx_port=33060\n"
    )
    parsed = sides.parse([str(tmp_path)])
    assert said(parsed)[1] == "SchedulerSpinTimer=100 log_bin=ON"
    assert parsed.left_out == ()


@pytest.mark.parametrize(
    ("word", "next_step"),
    [
        ("FileSystemPathDD=/nvme", "With NDBLAB_CLUSTER_DIR=FOLDER"),
        ("mysqld:tmpdir=/dev/shm", "With NDBLAB_CLUSTER_DIR=FOLDER"),
        ("init_file=/init.sql", "Name what the file sets"),
        ("port=3307", "Leave it out."),
        ("ndb_mgmd_host=mgm1", "Leave it out."),
    ],
)
def test_where_a_node_is_cannot_be_compared(word: str, next_step: str) -> None:
    """It is no misspelling, and the message says what to do instead."""
    with pytest.raises(LabError, match="is not compared: the lab itself decides where") as caught:
        sides.parse([word])
    assert next_step in caught.value.next_step


def test_what_two_files_share_keeps_its_order(tmp_path: Path) -> None:
    """Another order would be another identity, and nothing would resume."""
    names = [
        "ndb_use_transactions", "big_tables", "slow_query_log", "ndb_join_pushdown",
        "general_log", "ndb_force_send", "ndb_index_stat_enable", "ndb_use_exact_count",
    ]  # fmt: skip
    text = "".join(f'{name} = "off"\n' for name in names)
    for file, size in (("a.toml", "16K"), ("b.toml", "64K")):
        (tmp_path / file).write_text(f'{text}ndb_batch_size = "{size}"\n')
    known = [sides.Knob(name, "my.cnf", "mysqld", "", "initial", "x") for name in names]
    parsed = sides.parse([f"{tmp_path}/a.toml", f"{tmp_path}/b.toml"], known)
    assert [setting.knob.name for setting in parsed.both] == names


def test_an_option_whose_name_begins_with_skip_is_on(tmp_path: Path) -> None:
    """Before any other name, "skip-" means off."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nskip-replica-start\n")
    known = [sides.Knob("skip_replica_start", "my.cnf", "mysqld", "", "initial", "x")]
    assert said(sides.parse([str(tmp_path)], known))[1] == "skip_replica_start=ON"


def test_a_toml_file_is_a_side(tmp_path: Path) -> None:
    """Its tables are sections; `brief` is the side without a setting."""
    file = tmp_path / "mine.toml"
    file.write_text('ndb_join_pushdown = false\n[shm]\nSendBufferMemory = "4M"\n')
    parsed = sides.parse(["brief", str(file)])
    assert said(parsed)[:2] == ("", "ndb_join_pushdown=OFF shm:SendBufferMemory=4194304")
    file.write_text("ndb_join_pushdown = \n")
    with pytest.raises(LabError, match="is not TOML"):
        sides.parse([str(file)])


@pytest.mark.parametrize(
    ("text", "what", "named"),
    [
        ("SpinMetod = 1", r"mine\.toml: No setting is called SpinMetod", "perhaps SpinMethod"),
        ("[shm]\nSpinMethod = 1", r"mine\.toml: No setting is called shm:SpinMethod", ""),
        ("SchedulerSpinTimer = 501", r"mine\.toml: SchedulerSpinTimer cannot have", "0 to 500"),
        ("servers = [1, 2]", "a value that no setting can have", "sections as tables"),
        ("servers = 1.5", "a value that no setting can have", "a whole number"),
    ],
)
def test_a_mistake_in_a_file_names_the_file(tmp_path: Path, text: str, what: str, named: str):
    """The message also says what was probably meant."""
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(LabError, match=what) as caught:
        sides.parse([str(file)])
    assert named in str(caught.value)


def test_a_file_or_a_folder_that_is_no_side_is_one_message(tmp_path: Path) -> None:
    """Bytes that are no text, a folder without a configuration, a file that is not there."""
    (tmp_path / "binary.toml").write_bytes(b"a = \xff")
    with pytest.raises(LabError, match="is not TOML"):
        sides.parse([str(tmp_path / "binary.toml")])
    with pytest.raises(LabError, match="has no configuration"):
        sides.parse([str(tmp_path)])
    with pytest.raises(LabError, match="neither a setting nor a side"):
        sides.parse([str(tmp_path / "missing.toml")])


def test_an_empty_value_of_my_cnf_is_none_that_can_be_compared(tmp_path: Path) -> None:
    """It is not ON, which an option without "=" means; the lab says that it is left out."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nsql_mode=''\nndb_batch_size=64K\n")
    parsed = sides.parse(["brief", str(tmp_path)])
    assert said(parsed)[1] == "ndb_batch_size=65536"
    assert any("sql_mode" in line for line in parsed.left_out)


def test_a_long_value_is_no_file() -> None:
    """A list of threads may be longer than the name of a file."""
    threads = ",".join(f"ldm={{count=1,cpubind={cpu}}}" for cpu in range(40))
    assert said(sides.parse([f"ThreadConfig={threads}"]))[1] == f"ThreadConfig={threads}"


@pytest.mark.parametrize(
    ("words", "found", "next_step"),
    [
        (["servers=2", "servers=2"], "servers=2 on both sides, set or by default", "another value"),
        (["brief"], "the default on both sides", "such as: ./lab compare"),
    ],
)
def test_sides_that_are_alike_are_told_with_what_to_do(words, found, next_step) -> None:
    """There is no value to change where there is none."""
    with pytest.raises(LabError) as caught:
        sides.parse(words)
    assert caught.value.found == found
    assert next_step in caught.value.next_step


def test_a_value_that_the_other_side_has_anyway_is_no_difference() -> None:
    """What is left decides the design; if nothing is left, there is nothing to compare."""
    parsed = sides.parse(["ndb_batch_size=32K", "ndb_join_pushdown=off"])
    default = {("mysqld", "ndb_batch_size"): "32768", ("mysqld", "ndb_join_pushdown"): "TRUE"}
    left = sides.without_effect(parsed, {"a": default, "b": default})
    assert said(left) == ("", "ndb_join_pushdown=OFF", "ndb_batch_size=32768")
    with pytest.raises(LabError, match="differ in nothing"):
        sides.without_effect(sides.parse(["ndb_batch_size=32K"]), {"a": default, "b": default})
