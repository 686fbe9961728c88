"""What the user may name as a workload, and what is said of the rest."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab.error import LabError
from ndblab.planning import profile, workload
from ndblab.planning.point import Point
from ndblab.workloads import registry, sysbench
from ndblab.workloads.load_generator import Job
from ndblab.workloads.own import resolving
from ndblab.workloads.own.resolving import resolve
from workloads.doubles import BINARIES

LOOKUP = "SELECT c FROM sbtest:int(1,tables) WHERE id = :int(1,rows);\n"
CAPTURED = Path(__file__).parents[2] / "captured" / "slow_log" / "mysql_9.7.4.log"
TABLES = "CREATE TABLE t (\n id int PRIMARY KEY\n) ENGINE=ndbcluster;\n"
SERVER = SimpleNamespace(socket="/s/1.sock", port=None, endpoint="localhost", number=1)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "ndblab" / "workloads"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def job(name: str) -> Job:
    return Job(BINARIES, profile.get("smoke"), Point(1, 4, workload=name), [SERVER])


def test_a_name_of_the_labs_stays_what_it_is():
    """Recorded datasets know it by that name."""
    resolved = resolve("oltp_read_write")
    assert (resolved.name, resolved.generator) == ("oltp_read_write", sysbench)
    assert resolve("tpc_c").generator is registry.find("tpc_c")


def test_a_file_of_sql_runs_as_a_script_of_sysbench(tmp_path, cache):
    """Under a name that its content decides; the registry knows it from then on."""
    made = resolve(write(tmp_path / "queries.sql", LOOKUP))
    assert made.name.startswith("own_sql_")
    assert made.label == "queries.sql"
    assert registry.find(made.name) is made.generator
    warm_up, run = (command.argv for command in made.generator.commands(job(made.name)))
    assert run[1] == str(cache / f"{made.name}.lua")
    assert run[-1] == "run"
    assert {"--tables=2", "--table_size=1000", "--threads=4"} <= set(run)
    assert warm_up[1] == run[1]
    assert made.generator.files == {f"{made.name}.lua": Path(run[1]).read_text()}
    assert workload.is_sysbench(made.name)
    assert "oltp_point_select" in made.generator.prepare_command(job(made.name)).argv


def test_the_identity_is_the_content(tmp_path):
    """Neither the file's name nor its comments; but its tables are part of it."""
    first = resolve(write(tmp_path / "a.sql", LOOKUP)).name
    assert resolve(write(tmp_path / "b.sql", f"-- again\n{LOOKUP}")).name == first
    assert resolve(write(tmp_path / "c.sql", LOOKUP.replace("c FROM", "k FROM"))).name != first
    schema = write(tmp_path / "dump.sql", TABLES)
    with_tables = resolve(tmp_path / "a.sql", schema)
    assert with_tables.name != first


def test_a_schema_is_loaded_by_the_client(tmp_path, monkeypatch):
    """Into the load's database; ~/.my.cnf, ~/.mylogin.cnf and MYSQL_PWD are for other servers."""
    monkeypatch.setattr(
        "ndblab.install.packages.client_argv", lambda binaries, name: (f"/bin/{name}",)
    )
    schema = write(tmp_path / "my dump.sql", TABLES)
    made = resolve(write(tmp_path / "a.sql", "SELECT * FROM t;"), schema)
    [_, _, line] = made.generator.prepare_command(job(made.name)).argv
    assert line.startswith("exec /bin/mysql --no-defaults --password= --socket=/s/1.sock")
    assert line.endswith(f"sbtest < '{schema}'")
    assert " --default-character-set=utf8mb4 " in line


def test_a_slow_log_is_replayed_from_a_file_of_its_statements(cache):
    """Connection by connection, the longest first; what is left out is said."""
    said = []
    made = resolve(CAPTURED, tell=said.append)
    assert made.name.startswith("own_log_")
    data = (cache / f"{made.name}.data").read_bytes()
    assert data.startswith(b"4\n")
    assert b"34\nSELECT c FROM sbtest1 WHERE id = 1\n" in data
    assert str(cache / f"{made.name}.data") in made.generator.files[f"{made.name}.lua"]
    [line] = said
    assert "16 statements of 4 connections; 16 more" in line
    assert resolve(CAPTURED, writes=True, tell=said.append).name != made.name


def test_a_slow_log_in_place_is_checked_where_it_was_sent(cache):
    """That is another load than the same statements on tables of the lab's."""
    made = resolve(CAPTURED, tell=print, in_place=True)
    assert made.name != resolve(CAPTURED, tell=print).name
    assert set(made.generator.databases.values()) == {"sbtest"}
    assert len(made.generator.databases) == len(made.generator.statements)
    assert '"`sbtest`"' in made.generator.files[f"{made.name}.lua"]


def test_a_large_log_is_announced(monkeypatch):
    """Reading takes a while, and is not all of it."""
    monkeypatch.setattr(resolving.slow_log, "MOST_BYTES", 1000)
    said = []
    resolve(CAPTURED, tell=said.append)
    assert said[0].startswith("mysql_9.7.4.log has ")


def test_a_script_gets_the_options_that_it_declares(tmp_path):
    """sysbench refuses others; it finds what it requires in its own folder."""
    own = "sysbench.cmdline.options = {table_size = {'Rows', 1}}\nfunction event() end\n"
    made = resolve(write(tmp_path / "mine.lua", own))
    command = made.generator.commands(job(made.name))[-1]
    assert "--table_size=1000" in command.argv
    assert not [word for word in command.argv if word.startswith("--tables=")]
    assert command.env["LUA_PATH"] == f"{tmp_path}/?.lua;/a folder/?.lua"
    common = resolve(write(tmp_path / "other.lua", 'require("oltp_common")\nfunction event() end'))
    assert "--tables=2" in common.generator.commands(job(common.name))[-1].argv


def test_a_script_that_prepares_fills_its_own_tables(tmp_path):
    """Also if the script that it requires does; sysbench's tables are not filled then."""
    write(tmp_path / "shop_common.lua", "function prepare()\nend\n")
    made = resolve(write(tmp_path / "shop.lua", 'require "shop_common"\nfunction event() end'))
    words = made.generator.prepare_command(job(made.name)).argv
    assert words[1].endswith(f"{made.name}.lua")
    assert words[-1] == "prepare"
    assert not [word for word in words if "storage-engine" in word]
    first = made.name
    write(tmp_path / "shop_common.lua", "function prepare()\n -- changed\nend\n")
    assert resolve(tmp_path / "shop.lua").name != first


def test_a_program_is_its_own_client():
    """It has the role of clients, and its line is kept as it was given."""
    text = f"{sys.executable} -c pass {{socket}} {{seconds}}"
    made = resolve(text)
    assert made.name.startswith("own_program_")
    assert made.generator.ROLE == workload.CLIENT
    assert made.generator.files == {f"{made.name}.txt": f"{text}\n"}
    assert not workload.is_sysbench(made.name)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("oltp_nothing", "no workload called oltp_nothing"),
        ("none.sql", "The workload none.sql does not exist"),
        ("./none", "The workload ./none does not exist"),
        ("program of mine", "must be told where it is"),
    ],
)
def test_what_does_not_exist_is_one_message(name, what):
    """With the forms that there are."""
    with pytest.raises(LabError, match=what) as caught:
        resolve(name)
    assert caught.value.expected


def test_files_that_are_no_workload_are_refused(tmp_path):
    """Empty ones, others, and those in another encoding."""
    with pytest.raises(LabError, match="is empty"):
        resolve(write(tmp_path / "a.sql", ""))
    with pytest.raises(LabError, match="is no workload"):
        resolve(write(tmp_path / "a.txt", "hello"))
    latin = tmp_path / "l.sql"
    latin.write_bytes("SELECT 'é';".encode("latin-1"))
    with pytest.raises(LabError, match="not UTF-8"):
        resolve(latin)


def test_a_schema_or_writes_that_would_do_nothing_are_refused(tmp_path):
    """A user who gives them expects something of them."""
    schema = write(tmp_path / "dump.sql", TABLES)
    with pytest.raises(LabError, match="A schema belongs to"):
        resolve("oltp_read_only", schema)
    with pytest.raises(LabError, match="Writes are replayed"):
        resolve(write(tmp_path / "a.sql", LOOKUP), writes=True)
