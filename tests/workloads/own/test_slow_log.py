"""Slow logs: one captured from MySQL 9.7, heads of others as their manuals show them."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.workloads.own import slow_log

CAPTURED = Path(__file__).parents[2] / "captured" / "slow_log" / "mysql_9.7.4.log"
PERCONA = """\
# Time: 2026-11-26T12:41:12.106554Z
# User@Host: app[app] @ web1 [10.0.0.1]  Id:    12
# Schema: shop  Last_errno: 0  Killed: 0
# Query_time: 0.000054  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0  Rows_affected: 0
use shop;
SET timestamp=1795696872;
SELECT 1;
# User@Host: app[app] @ web1 [10.0.0.1]
# Thread_id: 13  Schema: shop  QC_hit: No
# Query_time: 0.000054  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0
SET timestamp=1795696872;
SELECT 2;
# User@Host: app[app] @ web1 [10.0.0.1]  Id:    12
# Schema: shop  Last_errno: 0  Killed: 0
# Query_time: 0.000054  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0  Rows_affected: 0
SET timestamp=1795696872;
select 3;
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "written.log"
    path.write_text(text)
    return path


def texts(sample: slow_log.Sample, connection: int) -> list[str]:
    return [entry.statement for entry in sample.connections[connection]]


def test_reads_of_each_connection_keep_their_order():
    """Statements over several lines are whole, and what looks like a head in a text is none."""
    sample = slow_log.sample(CAPTURED)
    own = texts(sample, 27)
    assert own[:3] == [f"SELECT c FROM sbtest1 WHERE id = {n}" for n in (1, 2, 3)]
    assert own[3] == "SELECT 'a;\n# Time: no head' AS t FROM sbtest1 WHERE id = 1"
    assert own[4] == "SELECT pad FROM sbtest2 WHERE id = 5"
    scans = texts(sample, 28)
    assert [scan.splitlines()[2] for scan in scans] == [" -- the newest; first"] * 3


def test_heads_with_more_columns_are_read_alike():
    """log_slow_extra adds columns to the same entries."""
    sample = slow_log.sample(CAPTURED)
    assert texts(sample, 29) == texts(sample, 27)
    assert texts(sample, 30) == texts(sample, 28)


def test_what_writes_locks_or_prepares_is_left_out_and_counted():
    """FOR UPDATE takes locks; the rest are the client's settings."""
    sample = slow_log.sample(CAPTURED)
    kept = [entry.statement for entries in sample.connections.values() for entry in entries]
    assert all(text.startswith("SELECT") and "FOR UPDATE" not in text for text in kept)
    assert (sample.statements, sample.left_out) == (16, 16)


def test_writes_keep_their_transaction():
    """With its begin and its end, in order."""
    own = texts(slow_log.sample(CAPTURED, writes=True), 28)[3:]
    assert [text.split()[0] for text in own] == ["BEGIN", "UPDATE", "SELECT", "COMMIT"]


def test_heads_of_other_servers_are_read(tmp_path):
    """Percona Server's lines, and connections named by Thread_id as MariaDB does."""
    path = tmp_path / "percona.log"
    path.write_text(PERCONA)
    sample = slow_log.sample(path)
    assert texts(sample, 12) == ["SELECT 1", "select 3"]
    assert texts(sample, 13) == ["SELECT 2"]


def test_an_empty_database_is_not_named_by_the_next_field(tmp_path):
    """MariaDB and Percona Server leave the name empty, and that field follows."""
    path = tmp_path / "percona.log"
    path.write_text(PERCONA.replace("Schema: shop  QC", "Schema:   QC"))
    assert slow_log.sample(path, in_place=True).databases == ("shop",)


@pytest.mark.parametrize(
    ("statement", "is_read"),
    [
        ("-- name: Get :one\nSELECT 1", True),
        ("# x\nSELECT 1", True),
        ("-- x\nDELETE FROM t", False),
        ("--\nINSERT INTO t\nSELECT 1", False),
        ("-- it's\nINSERT INTO t VALUES ('x'),\n(SELECT 1)", False),
        ("SELECT `a#b` FROM t FOR UPDATE", False),
    ],
)
def test_a_comment_before_a_statement_does_not_hide_it(statement: str, is_read: bool):
    """Some clients put its name there."""
    assert slow_log.reads(statement) == is_read


def test_a_large_log_is_sampled_over_its_whole_length(tmp_path):
    """Only so many bytes are read; every statement is whole, and in the order of the log."""
    path = tmp_path / "large.log"
    head = "# Time: 2026-11-26T12:41:12Z\n# User@Host: a[a] @ b []  Id: {}\n# Query_time: 0.1\n"
    path.write_text("".join(f"{head.format(n % 3)}SELECT {n}\n FROM t;\n" for n in range(10_000)))
    sample = slow_log.sample(path, most_bytes=64_000)
    every = [entry for entries in sample.connections.values() for entry in entries]
    numbers = [int(entry.statement.split()[1]) for entry in every]
    assert 400 < len(numbers) < 1000
    assert min(numbers) < 100
    assert max(numbers) > 9000
    assert all(entry.statement.endswith("\n FROM t") for entry in every)
    for entries in sample.connections.values():
        assert [entry.at for entry in entries] == sorted({entry.at for entry in entries})


def test_a_file_of_5_gb_without_an_end_of_line_is_one_message(tmp_path):
    """Little of it is read, and less is kept."""
    path = tmp_path / "slow.log"
    with path.open("wb") as stream:
        stream.write(b"# User: a[a] @ b []  Id: 1\nSELECT ")
        stream.truncate(5 << 30)
    tracemalloc.start()
    with pytest.raises(LabError, match="has no statement to run"):
        slow_log.sample(path)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 200 << 20


@pytest.mark.parametrize(
    ("text", "found"),
    [("no log\n", "no entry"), (PERCONA.replace("SELECT", "DO").replace("select", "DO"), "3 ")],
)
def test_a_log_with_nothing_to_run_is_one_message(tmp_path, text, found):
    """It says whether it is no log, or has no query."""
    path = tmp_path / "slow.log"
    path.write_text(text)
    with pytest.raises(LabError, match=r"slow\.log has no statement to run") as caught:
        slow_log.sample(path)
    assert caught.value.found.startswith(found)


def test_kinds_are_statements_without_their_literals():
    """The server checks each kind once."""
    kinds = slow_log.sample(CAPTURED).kinds()
    assert len(kinds) == 4
    assert ("", "SELECT c FROM sbtest1 WHERE id = ?") in kinds


def databases(path: Path, **options: int) -> list[list[str]]:
    """Where the statements of each connection were sent, in the order of connections."""
    connections = slow_log.sample(path, in_place=True, **options).connections
    return [[entry.database for entry in connections[number]] for number in sorted(connections)]


def test_statements_are_in_the_database_that_the_log_names_for_them(tmp_path):
    """MySQL names it when it changes, others with each statement; without `in_place`, none."""
    assert set(slow_log.sample(CAPTURED, in_place=True).databases) == {"sbtest"}
    assert slow_log.sample(CAPTURED).databases == ()
    path = write(tmp_path, PERCONA.replace("Schema: shop  QC", "Schema: bar  QC"))
    assert databases(path) == [["shop", "shop"], ["bar"]]


def test_a_database_that_a_part_of_a_log_does_not_name_is_the_only_one_or_unknown(tmp_path):
    """MySQL names it once where it never changes; of several, none can be guessed."""
    head = "# Time: 2026-11-26T12:41:12Z\n# User@Host: a[a] @ b []  Id: 1\n# Query_time: 0.1\n"
    lines = [f"{head}SELECT {n} FROM t;\n" for n in range(10_000)]
    lines[0] = lines[0].replace("SELECT", "use my shop;\nSELECT")
    [names] = databases(write(tmp_path, "".join(lines)), most_bytes=64_000)
    assert set(names) == {"my shop"}
    assert len(names) > 400
    lines[9_400] = lines[9_400].replace("SELECT", "use bar;\nSELECT")
    whole = "".join(lines)
    sample = slow_log.sample(write(tmp_path, whole), most_bytes=len(whole) // 2, in_place=True)
    assert set(sample.databases) == {"my shop", "bar"}
    assert sample.left_out > 1000
    assert all(entry.database for entries in sample.connections.values() for entry in entries)
