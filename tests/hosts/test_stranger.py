"""What somebody gets who reaches the ports of a cluster over several hosts, but has no key of it.

From a stranger's address, and from the management node's own: there NDB's comparison of addresses
with config.ini refuses nobody, and only TLS does. Each attempt prints what it got (pytest -s).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pymysql
import pytest

from ndblab.cluster import datadir, keys, readiness
from ndblab.cluster.cluster import Cluster
from ndblab.hosts.namespaces import Namespace, Network
from ndblab.install import ndb_tools
from ndblab.planning import config

pytestmark = pytest.mark.cluster

PORT = 23860
PATIENCE_S = 25
ONCE = ("--connect-retries=1", "--connect-retry-delay=1")
ANSWERS = ("[ndbd(NDB)]", "Data usage", "nodes from cluster configuration", "Start phase")
"""What only a management node that was willing would have said."""
PLACES, KEYS = ("stranger", "management host"), ("no key", "a key of another authority")

STOPPED = "the server does not start"

HELLO = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5) as link:
    link.sendall(b"ndbd\\nndbd passwd\\n")
    link.settimeout(5)
    print(repr(link.recv(200)))
    link.sendall(b"11 1 2\\n")
    print(repr(link.recv(200)))
"""
"""A plain-text greeting of a transporter, as a node of an older release sends it."""

UNCHECKED = """
import glob, socket, ssl, sys
host, port, folder = sys.argv[1:]
with socket.create_connection((host, int(port)), timeout=5) as link:
    link.sendall(b"start tls\\n\\n")
    print(repr(link.recv(200)))
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificate := glob.glob(folder + "/ndb-api-cert"):
        context.load_cert_chain(certificate[0], folder + "/ndb-api-private-key")
    with context.wrap_socket(link) as encrypted:
        encrypted.sendall(b"get status\\ntypes: NDB\\n\\n")
        print(repr(encrypted.recv(2000)))
"""
"""A management client of a stranger's own, which trusts whoever answers."""

LOGIN = """
import pymysql, ssl, sys
host, port, user, password, tls = sys.argv[1:]
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
secure = {"ssl": context} if tls == "tls" else {"ssl_disabled": True}
pymysql.connect(host=host, port=int(port), user=user, password=password, **secure)
"""


class Got(NamedTuple):
    """What an attempt got: its exit status, None if it had to be killed, and what was printed."""

    code: int | None
    said: str


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, network: Network) -> Namespace:
    return network.stranger if request.param == PLACES[0] else network.hosts["a"]


@pytest.fixture(params=KEYS)
def options(request: pytest.FixtureRequest, place: Namespace, tmp_path: Path, cluster) -> list[str]:
    """The options of NDB's programs: an empty folder, or keys of the stranger's own authority."""
    sign = str(keys.program(cluster.binaries))
    folder, authority = tmp_path / "keys", tmp_path / "authority"
    for private in (folder, authority):
        private.mkdir(mode=0o700)
    if request.param != KEYS[0]:
        file = authority / "options.cnf"
        file.write_text(config.authority_options(str(authority), "of-a-stranger"))
        made = [config.authority_argv(sign, str(file), str(authority))]
        made += [
            config.key_argv(sign, str(file), str(folder), type_, place.address)
            for type_ in (config.API_KEY, config.DATA_KEY, config.MGMD_KEY)
        ]
        for argv in made:
            subprocess.run(argv, check=True, capture_output=True)
    return [f"--ndb-tls-search-path={folder}"]


def attempt(place: Namespace, argv: list[str], what: str, folder: Path) -> Got:
    """Run a program in a place, and print what it got in a line."""
    with subprocess.Popen(
        place.argv(argv), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, env={**os.environ, "HOME": str(folder)},
    ) as process:  # fmt: skip
        try:
            said, _ = process.communicate(timeout=PATIENCE_S)
            got = Got(process.returncode, said)
        except subprocess.TimeoutExpired:
            process.kill()
            got = Got(None, process.communicate()[0])
    foreign = any((folder / "keys").glob("*cert"))
    told(place, f"{what}{', with a key of another authority' if foreign else ''}", got)
    return got


def told(place: Namespace, what: str, got: Got) -> None:
    lines = [line.strip() for line in got.said.splitlines() if line.strip()]
    words = " / ".join(lines[-1:] if "Traceback" in got.said else lines[-4:])
    ended = "killed" if got.code is None else f"exit {got.code}"
    print(f"\n| {place.name} | {what} | {ended} | {words[-300:]} |")


def to_management(cluster: Cluster) -> str:
    return f"--ndb-connectstring={config.connectstring(cluster.plan)}"


def test_every_link_between_hosts_is_encrypted(cluster: Cluster):
    """As ndbinfo tells it. Shared memory, which joins what shares a host, has no TLS."""
    links = keys.encryption(cluster)
    kinds = {(node, remote): (kind, tls) for node, remote, kind, tls in links}
    assert kinds[2, 3] == kinds[3, 2] == ("TCP", 1)
    assert kinds[2, 12] == kinds[3, 11] == ("TCP", 1)
    assert kinds[2, 11] == kinds[3, 12] == ("SHM", 0)
    assert kinds[2, 1] == kinds[3, 1] == ("TCP", 1)
    print("\n", kinds, cluster.query("SELECT * FROM ndbinfo.certificates"))


def test_each_host_has_its_own_keys_only(cluster: Cluster):
    """And nobody has that of the authority any more."""
    own = {
        name: {file.name for file in (site.folder / config.TLS_KEYS).glob("*private-key")}
        for name, site in cluster.sites.items()
    }
    data = {"ndb-data-node-private-key", "ndb-api-private-key"}
    assert own == {
        "a": {"ndb-mgm-server-private-key", "ndb-api-private-key"}, "b": data, "c": data,
    }  # fmt: skip
    texts = [
        (site.folder / config.TLS_KEYS / "ndb-api-private-key").read_text()
        for site in cluster.sites.values()
    ]
    assert len(set(texts)) == 3
    for folder in (cluster.folder, *(site.folder for site in cluster.sites.values())):
        assert not list(folder.rglob("NDB-Cluster-private-key"))
        assert (folder.stat().st_mode & 0o077) == 0


@pytest.mark.parametrize("command", ["show", "all report memory"])
def test_the_management_node_tells_nothing(cluster, place, options, command, tmp_path):
    """Neither the nodes nor their memory."""
    argv = [str(cluster.binaries.ndb_mgm), to_management(cluster), *ONCE, *options]
    got = attempt(place, [*argv, f"--execute={command}"], f"ndb_mgm {command}", tmp_path)
    assert got.code != 0
    assert not any(answer in got.said for answer in ANSWERS)


def test_nobody_reads_the_configuration(cluster, place, options, tmp_path):
    """A program that asks for it, as ndb_config does."""
    sign = ndb_tools.find(cluster.binaries, "ndb_sign_keys")
    argv = [str(sign), "--no-defaults", to_management(cluster), *ONCE, *options, "--check"]
    got = attempt(place, argv, "read the configuration", tmp_path)
    assert got.code != 0
    assert not any(answer in got.said for answer in ANSWERS)


def test_the_management_node_checks_the_key_itself(cluster, place, options, tmp_path):
    """NDB's own programs refuse a management node of another authority; another one need not."""
    node = cluster.plan.management_node
    argv = [sys.executable, "-c", UNCHECKED, node.address, str(node.port), str(tmp_path / "keys")]
    got = attempt(place, argv, "ask by a client that checks nothing", tmp_path)
    assert "start tls" in got.said
    assert got.code == 1
    assert "node" not in got.said.split("wrap_socket")[-1]


def test_nobody_joins_as_a_data_node(cluster, place, options, tmp_path):
    """Both places are taken, but nobody is told even that."""
    argv = [str(cluster.binaries.ndbmtd), "--no-defaults", to_management(cluster), *ONCE]
    argv += [*options, "--foreground", "--initial", "--ndb-nodeid=3"]
    got = attempt(place, argv, "join as data node 3", tmp_path)
    assert got.code != 0
    assert not any(answer in got.said for answer in ANSWERS)
    assert readiness.data_node_states(cluster) == {2: "started", 3: "started"}


def test_nobody_joins_as_an_api_node(cluster, place, options, tmp_path):
    """By ndb_import: config.ini has places for tools on the management node's host."""
    program = ndb_tools.find(cluster.binaries, "ndb_import")
    (tmp_path / "t.csv").write_text("1\n")
    argv = [str(program), "--no-defaults", to_management(cluster), *ONCE, *options, "d", "t.csv"]
    got = attempt(place, argv, "join as an API node", tmp_path)
    assert got.code != 0
    assert "Table" not in got.said


def test_a_mysql_server_of_a_strangers_own_sees_no_ndbinfo(cluster, place, options, tmp_path):
    """It starts, but not as a part of the cluster."""
    binaries = cluster.binaries
    datadir.copy(datadir.template(cluster, "b"), tmp_path / "data")
    socket = tmp_path / "s"
    argv = [
        str(binaries.mysqld), "--no-defaults", f"--datadir={tmp_path / 'data'}",
        f"--socket={socket}", "--skip-networking", "--mysqlx=OFF", "--ndbcluster", "--user=root",
        to_management(cluster), *options, "--ndb-wait-connected=2", "--ndb-wait-setup=2",
        "--skip-log-bin", "--log-error-verbosity=3", *binaries.mysqld_args,
    ]  # fmt: skip
    log = tmp_path / "out"
    with log.open("w") as out:
        process = subprocess.Popen(place.argv(argv), stdout=out, stderr=out, cwd=tmp_path)
    try:
        rows = asked(socket, process, "SELECT * FROM ndbinfo.nodes")
    finally:
        process.kill()
        process.wait()
    said = [line for line in log.read_text().splitlines() if "NDB" in line]
    foreign = any((tmp_path / "keys").glob("*cert"))
    what = f"read ndbinfo by a mysqld of one's own{', with a foreign key' if foreign else ''}"
    told(place, what, Got(None, "\n".join([*said[-2:], str(rows)])))
    assert rows == STOPPED or isinstance(rows, pymysql.Error)
    assert "TLS" in log.read_text()


def asked(socket: Path, process: subprocess.Popen, sql: str) -> object:
    """Return the rows of a statement, or the error, of a server that is being started."""
    until_s = time.monotonic() + 3 * PATIENCE_S
    while time.monotonic() < until_s and process.poll() is None:
        with contextlib.suppress(pymysql.OperationalError):
            connection = pymysql.connect(unix_socket=str(socket), user="root", ssl_disabled=True)
            break
        time.sleep(0.3)
    else:
        return STOPPED
    with contextlib.closing(connection):
        try:
            cursor = connection.cursor()
            cursor.execute(sql)
            return cursor.fetchall()
        except pymysql.Error as error:
            return error


def test_a_data_node_answers_no_plain_text(cluster, place, tmp_path):
    """Who names himself a node on its port, as a node does, gets no further than that."""
    node = cluster.plan.data_nodes[0]
    argv = [sys.executable, "-c", HELLO, node.address, str(node.port)]
    got = attempt(place, argv, "greet a data node in plain text", tmp_path)
    assert "TLS required" in got.said
    assert got.code != 0


@pytest.mark.parametrize(
    ("user", "password", "tls"),
    [
        ("root", "", "plain"), ("root", "", "tls"), (config.ACCOUNT, "", "plain"),
        (config.ACCOUNT, "", "tls"), (config.ACCOUNT, "guessed", "tls"),
    ],
)  # fmt: skip
def test_nobody_logs_in(cluster, place, user, password, tls, tmp_path):
    """Not as root, and not as the lab's account without its password."""
    node = cluster.plan.servers[0]
    argv = [sys.executable, "-c", LOGIN, node.address, str(node.port), user, password, tls]
    got = attempt(place, argv, f"log in as {user} ({password or 'no password'}, {tls})", tmp_path)
    assert got.code not in (0, None)
