"""The text of a cluster's configuration and the command lines that use it.

In: a `Plan` and the versions and paths of the binaries. Out: the text of config.ini and my.cnf, and
one argv per process. Pure: nothing is written and nothing started.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ndblab.machine import host
from ndblab.planning import deployment

if TYPE_CHECKING:
    from ndblab.install import Binaries

CONFIG_INI, MY_CNF, NO_TLS = "config.ini", "my.cnf", "no-tls"
"""Files and folders in the cluster's own folder. NDB looks for TLS keys from 8.3 on, in the user's
home unless told otherwise: an empty folder keeps the brief's plain transporters."""

_SIZES = (("G", 2**30), ("M", 2**20), ("K", 2**10))
BRIEF_CLIENTS = 4096
BRIEF_MAX_CONNECTIONS = 8200


@functools.cache
def _templates():
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ndblab.planning"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["size"] = size
    return environment


def size(value_bytes: int) -> str:
    """Write a size as NDB and MySQL do: 134217728 becomes "128M"."""
    for suffix, unit in _SIZES:
        if value_bytes % unit == 0 and value_bytes:
            return f"{value_bytes // unit}{suffix}"
    return str(value_bytes)


def config_ini(plan_: deployment.Plan) -> str:
    """Write the management node's config.ini."""
    template = _templates().get_template("config.ini.j2")
    return template.render(plan=plan_, api_node_ids=deployment.API_NODE_IDS).rstrip() + "\n"


def my_cnf(plan_: deployment.Plan, mysql_version: str, user: str = "") -> str:
    """Write the MySQL servers' my.cnf, a section for all and a group for each.

    Parameters
    ----------
    mysql_version : such as "9.7.4"; options that it does not know are left out:
        `default_authentication_plugin` from 8.4 on, `innodb_redo_log_capacity` before 8.0.30
        (release notes of these versions).
    user : the account that mysqld runs as; root must be asked for by name.
    """
    version = version_of(mysql_version)
    brief = plan_.places.brief
    template = _templates().get_template("my.cnf.j2")
    return (
        template.render(
            plan=plan_,
            connectstring="localhost" if brief else connectstring(plan_),
            max_connections=max_connections(plan_),
            max_prepared_statements=1_000_000,
            redo_log=_small_redo_log(version),
            knows_default_authentication_plugin=brief and version < (8, 4),
            user="root" if brief else user,
            pool=1 + len(plan_.servers[0].pool_node_ids),
        ).rstrip()
        + "\n"
    )


def connectstring(plan_: deployment.Plan) -> str:
    """Give the address of the management node."""
    return f"127.0.0.1:{plan_.management_node.port}"


def max_connections(plan_: deployment.Plan) -> int:
    """Connections a server takes: all clients may meet on one; the brief has 8200 for 4096."""
    return plan_.max_clients * BRIEF_MAX_CONNECTIONS // BRIEF_CLIENTS + 16 * (
        not plan_.places.brief
    )


def version_of(text: str) -> tuple[int, ...]:
    """Turn "8.0.26" into numbers that compare."""
    return tuple(int(part) for part in text.split("."))


def _small_redo_log(version: tuple[int, ...]) -> str:
    """InnoDB holds only MySQL's own tables here; the option changed its name in 8.0.30."""
    new = version >= (8, 0, 30)
    return "innodb_redo_log_capacity=8M" if new else "innodb_log_file_size=4M"


def _tls(binaries: Binaries, config_dir: str) -> list[str]:
    new = version_of(binaries.mysqld_version) >= (8, 3)
    return [f"--ndb-tls-search-path={config_dir}/{NO_TLS}"] if new else []


def binding(share: deployment.Share) -> list[str]:
    """Give the numactl prefix that binds a process to its CPUs and to their memory."""
    if not share.cpus:
        return []
    prefix = ["numactl", "-C", host.format_cpu_list(share.cpus)]
    if share.memory_nodes:
        prefix += ["-m", ",".join(str(node) for node in share.memory_nodes)]
    return prefix


def management_argv(plan_: deployment.Plan, binaries: Binaries, config_dir: str) -> list[str]:
    """Command of the management node. It stays in the foreground and listens on loopback only."""
    node = plan_.management_node
    return [
        *binding(node.share),
        str(binaries.ndb_mgmd),
        f"--ndb-nodeid={node.node_id}",
        f"--configdir={node.data_dir}",
        f"--config-file={config_dir}/{CONFIG_INI}",
        "--initial",
        "--nodaemon",
        "--bind-address=127.0.0.1",
        *_tls(binaries, config_dir),
    ]


def data_node_argv(plan_: deployment.Plan, node: deployment.Node, binaries: Binaries) -> list[str]:
    """Command of a data node, without the angel process that would restart it behind our back."""
    return [
        *binding(node.share),
        str(binaries.ndbmtd),
        f"--ndb-nodeid={node.node_id}",
        f"--ndb-connectstring={connectstring(plan_)}",
        "--initial",
        "--foreground",
        *_tls(binaries, plan_.places.cluster_dir),
    ]


def restart_argv(plan_: deployment.Plan, node: deployment.Node, binaries: Binaries) -> list[str]:
    """Command that starts a node again, with the data and the configuration that it has."""
    folder = plan_.places.cluster_dir
    if node.role == "mysqld":
        return server_argv(node, binaries, folder)
    if node.role == "ndbmtd":
        first = data_node_argv(plan_, node, binaries)
    else:
        first = management_argv(plan_, binaries, folder)
    return [word for word in first if word != "--initial"]


def server_argv(node: deployment.Node, binaries: Binaries, config_dir: str) -> list[str]:
    """Command of a MySQL server."""
    return [
        *binding(node.share),
        str(binaries.mysqld),
        f"--defaults-file={config_dir}/{MY_CNF}",
        f"--defaults-group-suffix=.{node.number}",
        *_tls(binaries, config_dir),
        *binaries.mysqld_args,
    ]


def template_argv(binaries: Binaries, data_dir: str, user: str) -> list[str]:
    """Command that initialises the data folder of which every server gets a copy.

    NDB itself is off during `--initialize-insecure` (mysqld's own rule).
    """
    return [
        str(binaries.mysqld),
        "--no-defaults",
        "--initialize-insecure",
        f"--datadir={data_dir}",
        f"--{_small_redo_log(version_of(binaries.mysqld_version))}",
        "--innodb-doublewrite=OFF",
        *([f"--user={user}"] if user else []),
        *binaries.mysqld_args,
    ]
