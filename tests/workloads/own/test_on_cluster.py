"""Workloads of the user's own on a real cluster: they run, and mistakes are one message each."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.planning.workload import is_good
from ndblab.workloads.load_generator import Job
from ndblab.workloads.own.resolving import resolve

pytestmark = pytest.mark.cluster

DATABASE = "own_workloads"
SQL = """\
-- weight: 3
SELECT c FROM sbtest:int(1,tables) WHERE id = :zipf(1,rows);
BEGIN;
SELECT k FROM sbtest:t=int(1,tables) WHERE id = :id=int(1,rows) FOR UPDATE;
UPDATE sbtest:t SET pad = :text(20), c = :choice('a','b;c') WHERE id = :id;
COMMIT;
"""
SHOP = """\
CREATE TABLE `orders` (
  `id` int NOT NULL AUTO_INCREMENT,
  `note` varchar(50) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=ndbcluster;
INSERT INTO `orders` (note) VALUES ('one'),('two; three'),('four');
"""
CLIENT = """\
import json, sys, time, pymysql
socket, seconds, database = sys.argv[1], int(sys.argv[2]), sys.argv[3]
cursor = pymysql.connect(unix_socket=socket, user="root", database=database).cursor()
for _ in range(seconds):
    end, queries = time.monotonic() + 1, 0
    while time.monotonic() < end:
        queries += cursor.execute("SELECT note FROM orders WHERE id = 2")
    print(json.dumps({"queries": queries}), flush=True)
"""


@pytest.fixture
def job(cluster):
    """Make a job of two seconds, in a database of these tests that is dropped in the end."""

    def made(workload: str, part: str) -> Job:
        size = profile.get("smoke", {"warmup_s": 0, "duration_s": 2})
        point, database = Point(1, 4, workload=workload), f"{DATABASE}_{part}"
        used.append(database)
        return Job(cluster.binaries, size, point, cluster.plan.servers[:1], database=database)

    used: list[str] = []
    yield made
    for database in used:
        cluster.query(f"DROP DATABASE IF EXISTS {database}")


def run(generator, cluster, job: Job):
    with generator.running(cluster, job) as load:
        return load.finish()


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_file_of_sql_loads_the_cluster(cluster, job, tmp_path):
    """Its transactions change what they say, and its lookups find rows."""
    made = resolve(write(tmp_path / "mine.sql", SQL))
    asked = job(made.name, "sql")
    filled = made.generator.prepare(cluster, asked)
    assert filled.rows == asked.profile.rows
    report = run(made.generator, cluster, asked)
    assert is_good(report.status)
    assert report.metrics["queries"] > 0
    assert report.metrics["errors"] <= 0.001 * report.metrics["queries"]
    changed = f"SELECT COUNT(*) FROM {asked.database}.sbtest1 WHERE c IN ('a', 'b;c')"
    assert cluster.query(changed)[0][0] > 0
    texts = f"SELECT COUNT(*) FROM {asked.database}.sbtest1 WHERE pad REGEXP '^[a-z]{{20}}$'"
    assert cluster.query(texts) == cluster.query(changed)


def test_a_statement_that_the_server_refuses_is_named(cluster, job, tmp_path):
    """By its number and line, with the server's message, before anything is measured."""
    text = "SELECT c FROM sbtest1;\nSELECT 2;\n\nSELEKT c FROM sbtest1 WHERE id = :int(1,9);\n"
    made = resolve(write(tmp_path / "mine.sql", f"{text}SELECT c FROM nowhere;"))
    with pytest.raises(LabError, match=r"refuses a statement of mine\.sql") as caught:
        made.generator.prepare(cluster, job(made.name, "refused"))
    first, second = caught.value.found.split("\n")
    assert first.startswith("statement 3 (line 4): ERROR 1064 ")
    assert "statement 4 (line 5): ERROR 1146 " in second


def test_errors_beyond_the_tolerated_are_one_message(cluster, job, tmp_path):
    """Duplicate keys are counted; the trial finds them."""
    schema = write(tmp_path / "shop.sql", SHOP)
    made = resolve(write(tmp_path / "m.sql", "INSERT INTO orders VALUES (1, 'x');"), schema)
    with pytest.raises(LabError, match=r"The load m\.sql does not run") as caught:
        made.generator.prepare(cluster, job(made.name, "errors"))
    assert caught.value.found.startswith("no transaction ended, each has errors: ")


def test_the_users_tables_are_loaded(cluster, job, tmp_path):
    """And queried, by sysbench and by a program of the user's."""
    schema = write(tmp_path / "shop.sql", SHOP)
    made = resolve(write(tmp_path / "m.sql", "SELECT note FROM orders WHERE id = 2;"), schema)
    asked = job(made.name, "shop")
    assert made.generator.prepare(cluster, asked).rows == 3
    assert run(made.generator, cluster, asked).metrics["queries"] > 0
    script = write(tmp_path / "client.py", CLIENT)
    program = resolve(f"{sys.executable} {script} {{socket}} {{seconds}} {{database}}", schema)
    report = run(program.generator, cluster, asked)
    assert is_good(report.status)
    assert report.metrics["queries"] > 0
    assert len(report.intervals) == 3


def test_a_dump_with_an_error_is_one_message(cluster, job, tmp_path):
    """With the line of the client's."""
    schema = write(tmp_path / "shop.sql", f"{SHOP}INSERT INTO order VALUES (1);\n")
    made = resolve(write(tmp_path / "m.sql", "SELECT 1;"), schema)
    with pytest.raises(LabError, match=r"shop\.sql could not be loaded") as caught:
        made.generator.prepare(cluster, job(made.name, "broken"))
    assert "ERROR 1064 (42000) at line 7" in caught.value.found


def test_a_slow_log_is_replayed_in_order(cluster, job, tmp_path):
    """More clients than connections, and fewer; each sends what a connection sent."""
    captured = Path(__file__).parents[2] / "captured" / "slow_log" / "mysql_9.7.4.log"
    said: list[str] = []
    made = resolve(captured, tell=said.append)
    asked = job(made.name, "log")
    made.generator.prepare(cluster, asked)
    for clients in (1, 7):
        point = replace(asked.point, clients=clients)
        report = run(made.generator, cluster, replace(asked, point=point))
        assert is_good(report.status)
        assert report.metrics["queries"] > 0
    writes = resolve(captured, writes=True, tell=said.append)
    assert is_good(run(writes.generator, cluster, asked).status)


def test_a_script_fills_its_own_tables_in_ndb(cluster, job, tmp_path):
    """Though it does not say so."""
    script = """
function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE mine (id INT PRIMARY KEY)")
   con:query("INSERT INTO mine VALUES (1), (2)")
end
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT * FROM mine WHERE id = 2") end
"""
    made = resolve(write(tmp_path / "mine.lua", script))
    asked = job(made.name, "lua")
    assert made.generator.prepare(cluster, asked).rows == 2
    assert run(made.generator, cluster, asked).metrics["queries"] > 0
