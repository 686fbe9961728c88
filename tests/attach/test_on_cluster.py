"""A real cluster that the lab is only attached to: measured, and left as it was."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import small_runs
import waiting
from certificates import an_authority
from conftest import started_before
from ndblab import dataset, install
from ndblab.cluster import start_stop
from ndblab.cluster.cluster import Cluster
from ndblab.machine import host
from ndblab.planning import deployment
from ndblab.planning.workload import is_good

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]
PORT = 14860
USER, PASSWORD = "bench", "a#b 'c' =d"
PROGRAM = """
import math, signal, sys, pathlib
import tasks
from invoke import Program
from ndblab.machine import interference
from ndblab.measuring import measurement
# A shell that runs tests in the background has them ignore the one, and nohup the other.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
interference.LIMIT_PCT = interference.STEAL_LIMIT_PCT = math.inf
folder = pathlib.Path(sys.argv[1])
if "compare" in sys.argv:
    # A whole minute shows no more of what is set and put back.
    measurement.limit_of_s = lambda *_: 35
measurement.RUNS, tasks.OUT = folder / "runs", folder / "out"
Program(namespace=tasks.namespace).run(["lab", *sys.argv[2:]])
"""
ACCOUNTS = [
    (server, f"'{USER}'@'{place}'") for server in (1, 2) for place in ("localhost", "127.0.0.1")
]
"""The account on each server, by socket and by port."""
ALLOWED = re.compile(
    r"SELECT |SHOW |SET (SESSION|AUTOCOMMIT|NAMES)|ROLLBACK|BEGIN|COMMIT"
    r"|(CREATE|DROP) DATABASE (IF NOT EXISTS )?`?ndblab_11_\w+`?$"
    r"|DROP TABLE `ndblab_11_\w+`\.`sbtest\d+`$"
    r"|(CREATE TABLE|INSERT INTO|CREATE INDEX \S+ ON) sbtest\d",
    re.IGNORECASE,
)
"""Statements that an attached lab may send."""


@pytest.fixture(scope="module")
def cluster(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of two servers, with sockets and ports, TLS and an account with a password."""
    folder = started_before(tmp_path_factory.mktemp("ndb") / "cluster", template)
    places = start_stop.places(folder, PORT)
    overlay = deployment.Overlay(my_cnf={"tls-version": None, "general_log": 1})
    shape = deployment.Shape(
        2, 20_000, 64, budget="shared", networking=True, places=places, overlay=overlay
    )
    plan = deployment.make(host.read(), shape)
    with start_stop.running(plan, install.ensure(progress=False), progress=False) as running:
        for server, account in ACCOUNTS:
            with contextlib.closing(running.connect(server)) as connection:
                cursor = connection.cursor()
                cursor.execute(f"CREATE USER {account} IDENTIFIED BY %s", (PASSWORD,))
                cursor.execute(rf"GRANT ALL ON `ndblab\_%`.* TO {account}")
                cursor.execute(f"GRANT SELECT ON `ndbinfo`.* TO {account}")
        yield running


@pytest.fixture
def lab(cluster: Cluster, tmp_path: Path):
    """Start the command line of a lab of its own, as another user of the cluster would."""
    option_file = tmp_path / "my.cnf"
    option_file.write_text(f'[client]\nuser={USER}\npassword="{PASSWORD}"\n')
    environment = {
        **os.environ,
        "NDBLAB_MY_CNF": str(option_file),
        "NDBLAB_CLUSTER_DIR": str(tmp_path / "lab"),
    }
    started = []

    def start(*words: str, by: str | list[str] = "socket", **changes: str) -> subprocess.Popen:
        argv = [sys.executable, "-c", PROGRAM, str(tmp_path), *words]
        argv += ["--attach", f"127.0.0.1:{PORT}", "--endpoints", named(cluster, by)]
        child = subprocess.Popen(
            argv, cwd=ROOT, env=environment | changes, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        started.append(child)
        return child

    yield start
    for child in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def named(cluster: Cluster, by: str | list[str]) -> str:
    if isinstance(by, list):
        return ",".join(by)
    servers = cluster.plan.servers
    if by == "socket":
        return ",".join(node.socket for node in servers)
    return ",".join(f"127.0.0.1:{node.port}" for node in servers)


def ended(child: subprocess.Popen, code: int = 0) -> str:
    text, _ = child.communicate(timeout=300)
    assert child.returncode == code, text
    return text


def interrupted(child: subprocess.Popen, number: int) -> None:
    """Send a lab a signal, and wait for its end."""
    child.send_signal(number)
    child.communicate(timeout=60)
    assert child.returncode != 0


def recorded(folder: Path) -> dataset.Dataset:
    """Read the only dataset of a lab; the notebook of a comparison is beside its folder."""
    [place] = (path for path in (folder / "runs").glob("*/*") if path.is_dir())
    return dataset.read(place)


def observed(cluster: Cluster) -> dict[str, object]:
    """What of a cluster must be the same before and after."""
    volatile = re.compile(r"gtid|timestamp|pseudo|rand_seed|insert_id|identity", re.IGNORECASE)
    variables = {
        (server, name): value
        for server in (1, 2)
        for name, value in cluster.query("SHOW GLOBAL VARIABLES", server)
        if not volatile.search(name)
    }
    return {
        "variables": variables,
        "schemas": [cluster.query("SHOW DATABASES", server) for server in (1, 2)],
        "processes": cluster.query("SELECT * FROM ndbinfo.processes ORDER BY node_id"),
        "config": cluster.query("SELECT * FROM ndbinfo.config_values ORDER BY 1, 2"),
        "nodes": cluster.query("SELECT node_id, status, config_generation FROM ndbinfo.nodes"),
        "pids": cluster.pids(),
    }


def schemas(cluster: Cluster) -> list[str]:
    """The schemas that labs have on a cluster."""
    return [name for (name,) in cluster.query(r"SHOW DATABASES LIKE 'ndblab\_%'")]


def statements(cluster: Cluster, user: str) -> Iterator[str]:
    """Yield what an account sent, by the general logs of both servers."""
    for node in cluster.plan.servers:
        [log] = set(Path(node.data_dir).glob("*.log")) - {Path(node.data_dir) / "error.log"}
        theirs: set[str] = set()
        for line in log.read_text(errors="replace").splitlines():
            entry = re.match(r"\S+Z\s+(\d+) (Connect|Query|Execute|Prepare)\t(.*)", line)
            if entry and entry[2] == "Connect" and entry[3].startswith(f"{user}@"):
                theirs.add(entry[1])
            elif entry and entry[1] in theirs:
                yield entry[3].strip()


def test_an_attached_cluster_is_measured_and_left_as_it_was(cluster, lab, tmp_path):
    """The dataset is complete and says what it is; nothing of the cluster has changed."""
    before = observed(cluster)
    said = ended(lab("reproduce", "--figure", "6", "--profile", "smoke"))
    assert observed(cluster) == before
    assert schemas(cluster) == []
    data = recorded(tmp_path)
    assert data.complete
    assert data.budget == "attached"
    assert data.runs["status"].map(is_good).all()
    assert {(n, c) for n, c in zip(data.runs.servers, data.runs.clients, strict=True)} == {
        (1, 2), (1, 8), (2, 2), (2, 8),
    }  # fmt: skip
    assert set(data.processes["role"]) == {"ndb_mgmd", "ndbmtd", "mysqld", "sysbench", "lab"}
    assert len(data.ndb_threads) > 0
    known = data.manifest["attached"]
    assert known["connectstring"] == f"127.0.0.1:{PORT}"
    assert [server["node_id"] for server in known["servers"]] == [11, 12]
    assert "not with --attach" in said
    for file in data.path.rglob("*"):
        assert not file.is_file() or PASSWORD.encode() not in file.read_bytes()
    strange = [sent for sent in statements(cluster, USER) if not ALLOWED.match(sent)]
    assert strange == []


def test_a_dry_run_says_what_would_be_sent_and_writes_nothing(cluster, lab, tmp_path):
    """Statements, endpoints and load, read from the cluster; nobody's password."""
    said = ended(lab("reproduce", "--figure", "6", "--profile", "smoke", "--dry-run"))
    assert schemas(cluster) == []
    assert not (tmp_path / "runs").exists()
    for line in (
        "# budget attached: ",
        f"# endpoints: {named(cluster, 'socket').replace(',', ', ')}, as {USER}",
        "CREATE DATABASE `ndblab_11_",
        "DROP DATABASE `ndblab_11_",
        "# s02_c0008_r1",
        "F6-double-servers",
    ):
        assert line in said
    assert len(re.findall(r"sysbench .* prepare$", said, re.MULTILINE)) == 1
    assert len(re.findall(r"sysbench .* run$", said, re.MULTILINE)) == 8
    assert PASSWORD not in said
    assert all(map(ALLOWED.match, statements(cluster, USER)))


def test_servers_are_loaded_over_tcp_with_a_password(cluster, lab, tmp_path):
    """Those of several ports of a host, by an account that may enter from there."""
    words = ("--experiment", "stability", "--profile", "smoke")
    ended(lab("reproduce", *words, by="port"))
    assert list(recorded(tmp_path).runs["status"]) == ["ok"]
    assert schemas(cluster) == []


def test_the_certificate_of_a_server_is_checked_against_the_users_authority(cluster, lab, tmp_path):
    """A server with one of another authority, or without the name of its host, is not entered."""
    option_file, data = tmp_path / "my.cnf", Path(cluster.plan.servers[0].data_dir)
    own = option_file.read_text() + f"ssl-ca={data}/ca.pem\n"
    other = an_authority(tmp_path / "other.pem")
    first = ["127.0.0.1:" + str(cluster.plan.servers[0].port)]
    for lines, reason in (
        (own, ""),
        (own + "ssl-mode=VERIFY_IDENTITY\n", "certificate that"),
        (own.replace(f"{data}/ca.pem", str(other)), "CERTIFICATE_VERIFY_FAILED"),
    ):
        option_file.write_text(lines)
        said = ended(lab("cluster.detach", by=first), code=1 if reason else 0)
        assert reason in said
        assert ("cannot be entered with ssl-mode=VERIFY_" in said) == bool(reason)


def begun(cluster: Cluster, child: subprocess.Popen) -> None:
    """Wait until a lab measures; its password is in no command line meanwhile."""

    def loads() -> bool:
        assert child.poll() is None, child.communicate()[0]
        rows = cluster.query("SELECT DB, COMMAND FROM information_schema.PROCESSLIST")
        return any(str(db).startswith("ndblab_") for db, _ in rows)

    waiting.until(loads, 120, "the load")
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            assert PASSWORD.encode() not in file.read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_lab_leaves_no_schema(cluster, lab, number):
    """Ctrl-C, SIGTERM and the end of the terminal remove it first."""
    child = lab("reproduce", "--figure", "1", "--profile", "smoke", "--duration", "60")
    begun(cluster, child)
    interrupted(child, number)
    assert schemas(cluster) == []


def test_what_a_killed_lab_leaves_is_removed_by_the_next(cluster, lab, tmp_path):
    """Its sysbench ends with it; the schema is named and removed, unless its lab is alive."""
    first = lab("reproduce", "--figure", "1", "--profile", "smoke", "--duration", "60")
    begun(cluster, first)
    other = {"NDBLAB_CLUSTER_DIR": str(tmp_path / "other")}
    said = ended(lab("cluster.detach", **other), code=1)
    assert "Another lab measures this cluster" in said
    first.send_signal(signal.SIGKILL)
    first.wait()

    def quiet() -> bool:
        rows = cluster.query("SELECT DB FROM information_schema.PROCESSLIST")
        return not any(str(db).startswith("ndblab_") for (db,) in rows)

    waiting.until(quiet, 30, "the end of its load")
    [left] = schemas(cluster)
    said = ended(lab("cluster.detach", **other))
    assert f"Removed the schema {left} with 2 tables." in said
    assert schemas(cluster) == []
    assert "Nothing of the lab" in ended(lab("cluster.detach", **other))


def test_a_killed_measurement_goes_on_after_the_schema_is_removed(cluster, lab, tmp_path):
    """The same command removes what the killed one left, and measures what is missing."""
    words = ("reproduce", "--figure", "4", "--profile", "smoke")
    first = lab(*words)
    waiting.until(lambda: small_runs.saved(tmp_path / "runs"), 120, "a run")
    first.send_signal(signal.SIGKILL)
    first.wait()
    [left] = schemas(cluster)
    said = ended(lab(*words))
    assert f"cleared up after a killed lab: removed the schema {left} with 2 tables" in said
    data = recorded(tmp_path)
    assert data.complete
    assert len(data.manifest["resumed"]) == 1
    assert schemas(cluster) == []


def test_an_account_without_rights_is_told_what_to_type(cluster, lab, tmp_path):
    """The line names the account as the server knows it."""
    cluster.query("CREATE USER poor@localhost")
    (tmp_path / "poor.cnf").write_text("[client]\nuser=poor\n")
    said = ended(lab("cluster.detach", NDBLAB_MY_CNF=str(tmp_path / "poor.cnf")), code=1)
    assert "GRANT SELECT ON `ndbinfo`.* TO 'poor'@'localhost'" in said
    (tmp_path / "poor.cnf").write_text("[client]\nuser=nobody\npassword=wrong\n")
    said = ended(lab("cluster.detach", NDBLAB_MY_CNF=str(tmp_path / "poor.cnf")), code=1)
    assert "does not let nobody in" in said
    assert "~/.my.cnf" in said


COMPARED = ("compare", "--side", "ndb_batch_size=64K", "--profile", "smoke", "--minutes", "1")


@pytest.fixture
def may_set(cluster: Cluster) -> Iterator[None]:
    """The account may set global variables."""
    for server, account in ACCOUNTS:
        cluster.query(f"GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO {account}", server)
    yield
    for server, account in ACCOUNTS:
        cluster.query(f"REVOKE SYSTEM_VARIABLES_ADMIN ON *.* FROM {account}", server)


def batch_sizes(cluster: Cluster) -> set[str]:
    """The values of ndb_batch_size on all servers."""
    asked = "SHOW GLOBAL VARIABLES LIKE 'ndb_batch_size'"
    return {value for server in (1, 2) for _, value in cluster.query(asked, server)}


@pytest.mark.usefixtures("may_set")
def test_a_comparison_sets_variables_for_a_while(cluster, lab, tmp_path):
    """Either side in turn, read back each time; afterwards all is as it was."""
    before = observed(cluster)
    said, _ = lab(*COMPARED, "--may-change").communicate(timeout=300)
    assert "Dataset: " in said
    assert observed(cluster) == before
    data = recorded(tmp_path)
    assert [sides["ndb_batch_size"] for sides in data.manifest["set_global"]] == ["65536", "32768"]
    assert set(data.slices["variant"]) == {"default", "b"}
    assert all(map(is_good, data.slices["status"]))
    assert data.path.with_name(f"{data.id}.ipynb").is_file(), "the report reads its band"


def test_nothing_is_set_without_consent_or_right(cluster, lab, tmp_path):
    """Each is one message, before a schema is made."""
    assert "  expected: --may-change\n" in ended(lab(*COMPARED), code=2)
    assert not (tmp_path / "runs").exists()
    assert "GRANT SYSTEM_VARIABLES_ADMIN" in ended(lab(*COMPARED, "--may-change"), code=2)
    said = ended(lab("compare", "--side", "UseShm=off", "--may-change"), code=2)
    assert "not restarted or configured" in said
    assert batch_sizes(cluster) == {"32768"}
    assert schemas(cluster) == []


def made_schemas(cluster: Cluster) -> set[str]:
    """The schemas that labs have ever made there."""
    asked = "\n".join(statements(cluster, USER))
    return set(re.findall(r"CREATE DATABASE (?:IF NOT EXISTS )?`?(ndblab_\w+)", asked))


def test_tables_of_two_kinds_are_compared_without_consent(cluster, lab, tmp_path):
    """They are in schemas of the lab's own, which are gone afterwards."""
    before = observed(cluster)
    known = made_schemas(cluster)
    words = ("--side", "READ_BACKUP=0", "--profile", "smoke", "--minutes", "1")
    said, _ = lab("compare", *words).communicate(timeout=300)
    assert "Dataset: " in said
    assert observed(cluster) == before
    assert len(made_schemas(cluster) - known) == 2


@pytest.mark.slow
def test_statements_of_the_users_that_only_read_are_a_load_without_consent(cluster, lab, tmp_path):
    """On the lab's tables, with a password; one that writes is sent by nobody."""
    before, file = observed(cluster), tmp_path / "mine.sql"
    file.write_text("SELECT pad FROM sbtest:int(1,tables) WHERE id = :int(1,rows);\n")
    sides = ("--side", "clients=2", "--side", "clients=4", "--profile", "smoke", "--minutes", "1")
    said, _ = lab("compare", *sides, "--workload", str(file)).communicate(timeout=300)
    assert "Dataset: " in said
    assert observed(cluster) == before
    data = recorded(tmp_path)
    assert set(data.slices["status"].map(is_good)) == {True}
    assert [Path(name).suffix for name in data.configs() if name.startswith("own_sql_")] == [".lua"]
    file.write_text("SELECT 1;\nUPDATE sbtest1 SET k = 7;\n")
    assert "may change data" in ended(lab("compare", *sides, "--workload", str(file)), code=2)
    assert not any("SET k = 7" in sent for sent in statements(cluster, USER))


@pytest.fixture
def shop(cluster: Cluster) -> Iterator[Path]:
    """A slow log of reads and a write in a database of the users, which the account may read."""
    cluster.query("CREATE DATABASE shop")
    cluster.query("CREATE TABLE shop.orders (id INT PRIMARY KEY, paid INT) ENGINE=NDB")
    cluster.query("INSERT INTO shop.orders VALUES (1, 0), (2, 0)")
    for server, account in ACCOUNTS:
        cluster.query(f"GRANT SELECT ON shop.* TO {account}", server)
    log = Path(cluster.plan.servers[0].data_dir) / "captured.log"
    usual = {
        name: cluster.query(f"SELECT @@global.{name}")[0][0]
        for name in ("slow_query_log_file", "long_query_time", "slow_query_log")
    }
    cluster.query(f"SET GLOBAL slow_query_log_file = '{log}'")
    cluster.query("SET GLOBAL long_query_time = 0")
    cluster.query("SET GLOBAL slow_query_log = 1")
    with contextlib.closing(cluster.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("USE shop")
        for statement in ("SELECT paid FROM orders WHERE id = 1", "UPDATE orders SET paid = 1"):
            cursor.execute(statement)
            cursor.fetchall()
    for name, value in reversed(usual.items()):
        cluster.query(f"SET GLOBAL {name} = {value!r}")
    kept = log.read_text()
    log.unlink()
    # Not beside the general log, of which there is one.
    moved = log.parent.parent / "captured.log"
    moved.write_text(kept)
    cluster.query("UPDATE shop.orders SET paid = 0")
    yield moved
    cluster.query("DROP DATABASE shop")


@pytest.mark.slow
def test_a_slow_log_is_replayed_in_the_database_that_it_names(cluster, lab, tmp_path, shop):
    """Its reads only, without consent, though the lab's own tables are elsewhere."""
    sides = ("--side", "clients=2", "--side", "clients=4", "--profile", "smoke", "--minutes", "1")
    said, _ = lab("compare", *sides, "--workload", str(shop)).communicate(timeout=300)
    assert "Dataset: " in said, said
    data = recorded(tmp_path)
    assert set(data.slices["status"].map(is_good)) == {True}
    sent = list(statements(cluster, USER))
    assert "USE `shop`" in sent
    assert "SELECT paid FROM orders WHERE id = 1" in sent
    assert cluster.query("SELECT id, paid FROM shop.orders ORDER BY id") == [(1, 0), (2, 0)]
    assert schemas(cluster) == []
    cluster.query("DROP TABLE shop.orders")
    said = ended(lab("compare", *sides, "--workload", str(shop), "--again"), code=2)
    assert "ERROR 1146" in said
    assert "--schema" not in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.usefixtures("may_set")
def test_variables_are_put_back_however_a_comparison_ends(cluster, lab, number):
    """At once after Ctrl-C and SIGTERM; after SIGKILL, by the next lab."""
    child = lab(*COMPARED, "--may-change")
    waiting.until(
        lambda: batch_sizes(cluster) == {"65536"}, 120, "side B",
        seen=lambda: f"ndb_batch_size {batch_sizes(cluster)}, exit status {child.poll()}",
    )  # fmt: skip
    interrupted(child, number)
    if number == signal.SIGKILL:
        assert batch_sizes(cluster) == {"65536"}
        said = ended(lab("cluster.detach"))
        assert "ut back ndb_batch_size=32768 on " in said
    assert batch_sizes(cluster) == {"32768"}
    assert schemas(cluster) == []


def test_a_dry_run_of_tables_of_two_kinds_or_variables_writes_nothing(cluster, lab, tmp_path):
    """It shows what would be set, and both schemas; or the plan as JSON."""
    said = ended(lab(*COMPARED, "--may-change", "--dry-run"))
    assert "SET GLOBAL ndb_batch_size = 65536;" in said
    assert "# at the end the values of before: ndb_batch_size" in said
    said = ended(lab("compare", "--side", "READ_BACKUP=0", "--dry-run"))
    assert len(set(re.findall(r"CREATE DATABASE `(\w+)`", said))) == 2
    said = ended(lab("compare", "--side", "READ_BACKUP=0", "--dry-run", "--json"))
    assert '"design": "alternation"' in said
    file = tmp_path / "mine.sql"
    file.write_text("SELECT pad FROM sbtest1 WHERE id = :int(1,rows);\n")
    words = ("--side", "clients=2", "--workload", str(file), "--dry-run")
    said = ended(lab("compare", *words))
    assert "#   event = units[1]\n# no server has checked this SQL yet" in said
    assert schemas(cluster) == []
    assert not (tmp_path / "runs").exists()
