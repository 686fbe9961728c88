"""The text of a cluster's configuration and the command lines that use it.

Pure: nothing is written and nothing started.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ndblab.install.binaries import is_at_least, rondb_series
from ndblab.machine import topology
from ndblab.planning.cpu_budget import Share
from ndblab.planning.deployment import Plan
from ndblab.planning.node import API_NODE_IDS, REPLICAS, Node
from ndblab.planning.setting_value import ndb_path, quoted

if TYPE_CHECKING:
    from ndblab.install import Binaries

CONFIG_INI, MY_CNF, ACCOUNTS = "config.ini", "my.cnf", "accounts.sql"
ACCOUNT, ACCOUNT_FILE = "ndblab", "sysbench.cnf"
NO_TLS, TLS_KEYS = "no-tls", "ndb-tls"
"""Files and folders in the cluster's own folder. From 8.3 on NDB looks for TLS keys, by default in
the user's home: an empty folder keeps the brief's plain transporters."""
OLDEST_WITH_TLS = "8.3.0"
"""Manual, "What is New in MySQL NDB Cluster 8.3"."""
MGMD_KEY, DATA_KEY, API_KEY = "mgmd", "db", "api"
"""The types of key that `ndb_sign_keys` knows (its option --node-type)."""

_SIZES = (("G", 2**30), ("M", 2**20), ("K", 2**10))
TLS_KEY_S = 30 * 24 * 3600
"""How long a certificate is valid, in seconds: longer than any measurement."""
BRIEF_CLIENTS = 4096
BRIEF_MAX_CONNECTIONS = 8200
RONDB_WITHOUT_QUERY_THREADS = (22,)


@functools.cache
def _templates():
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ndblab.planning"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"size": size, "quoted": quoted, "ndb_path": ndb_path}
    return environment


def size(value_bytes: int) -> str:
    """Write a size as NDB and MySQL do: 134217728 becomes "128M"."""
    for suffix, unit in _SIZES:
        if value_bytes % unit == 0 and value_bytes:
            return f"{value_bytes // unit}{suffix}"
    return str(value_bytes)


def config_ini(plan_: Plan, ndb_version: str = "") -> str:
    """Write the management node's config.ini.

    Parameters
    ----------
    ndb_version : such as "9.7.4" or, for RonDB, "21.4.17". RonDB takes all of the host's memory
        and CPUs and spins by default (AutomaticMemoryConfig, AutomaticThreadConfig, SpinMethod in
        its ConfigInfo.cpp): two data nodes that share a host cannot. ThreadConfig counts only
        where AutomaticThreadConfig is off, and from 22 on the data node refuses query threads (its
        Configuration.cpp).
    """
    rondb = rondb_series(ndb_version)
    template = _templates().get_template("config.ini.j2")
    text = template.render(
        plan=plan_,
        api_node_ids=API_NODE_IDS,
        replicas=REPLICAS,
        rondb=bool(rondb),
        thread_config=plan_.threads.config(query=rondb < RONDB_WITHOUT_QUERY_THREADS),
    )
    return overlaid(text, plan_.overlay.config_ini, before="[ndb_mgmd]")


def my_cnf(plan_: Plan, mysql_version: str, user: str = "") -> str:
    """Write the MySQL servers' my.cnf, a section for all and a group for each.

    Parameters
    ----------
    mysql_version : such as "9.7.4"; options that it does not know are left out:
        `default_authentication_plugin` from 8.4 on, `innodb_redo_log_capacity` before 8.0.30
        (release notes of these versions).
    user : the account that mysqld runs as; root must be named explicitly.
    """
    brief = plan_.places.brief
    template = _templates().get_template("my.cnf.j2")
    text = template.render(
        plan=plan_,
        connectstring=plan_.management_node.address if brief else connectstring(plan_),
        max_connections=max_connections(plan_),
        max_prepared_statements=1_000_000,
        redo_log=_small_redo_log(mysql_version),
        accounts=ACCOUNTS,
        knows_default_authentication_plugin=brief and not is_at_least(mysql_version, "8.4"),
        user="root" if brief else user,
    )
    return overlaid(text, {"mysqld": plan_.overlay.my_cnf})


def overlaid(
    text: str, overlay: Mapping[str, Mapping[str, object]], before: str | None = None
) -> str:
    """Set parameters in a configuration file's text, in all sections of a name.

    Parameters
    ----------
    overlay : values by section and parameter; None removes a parameter. Names match as NDB and
        MySQL read them, regardless of case and of "-" or "_".
    before : the line before which a missing section is added.
    """
    sections: list[list[str]] = []
    for line in text.strip().splitlines():
        if line.startswith("["):
            sections.append([])
        sections[-1].append(line)
    for name, values in overlay.items():
        own = [section for section in sections if section[0] == f"[{name}]"]
        if not own and values:
            own = [[f"[{name}]", ""]]
            at = next((i for i, s in enumerate(sections) if s[0] == before), len(sections))
            sections[at:at] = own
        for section in own:
            for parameter, value in values.items():
                _set(section, parameter, value)
    return "\n".join(line for section in sections for line in section).rstrip() + "\n"


def _set(section: list[str], parameter: str, value: object) -> None:
    name, *names = (
        text.partition("=")[0].lower().replace("_", "-") for text in (parameter, *section)
    )
    there = name in names
    at = names.index(name) if there else 1 + max(i for i, line in enumerate(section) if line)
    section[at : at + there] = [] if value is None else [f"{parameter}={value}"]


def connectstring(plan_: Plan) -> str:
    """Return the address of the management node."""
    return f"{plan_.management_node.endpoint}:{plan_.management_node.port}"


def account(plan_: Plan, load_host: str) -> dict[str, str]:
    """Return what a job must know about the account of load generators; on one host, nothing.

    On one host they use root's account. Over several hosts they use the lab's, whose password is in
    a file on their host.
    """
    folders = [host.folder for host in plan_.hosts if host.name == load_host]
    return {"user": ACCOUNT, "options_file": f"{folders[0]}/{ACCOUNT_FILE}"} if folders else {}


def max_connections(plan_: Plan) -> int:
    """Return how many connections a server takes: all clients may meet on one.

    The brief has 8200 for 4096 clients.
    """
    clients = plan_.max_clients * BRIEF_MAX_CONNECTIONS // BRIEF_CLIENTS
    return clients if plan_.places.brief else clients + 16


def _small_redo_log(mysql_version: str) -> str:
    """Return the option for a small redo log: InnoDB holds only MySQL's own tables here.

    The option changed its name in 8.0.30.
    """
    new = is_at_least(mysql_version, "8.0.30")
    return "innodb_redo_log_capacity=8M" if new else "innodb_log_file_size=4M"


def tls_options(folder: str, mysql_version: str, tls: bool = False) -> list[str]:
    """Return the options that give an NDB program its TLS keys, or keep it from finding any.

    With TLS, it sends nothing to a management node before the connection is encrypted. `folder` is
    that of the configuration.
    """
    if tls:
        return [f"--ndb-tls-search-path={folder}/{TLS_KEYS}", "--ndb-mgm-tls=strict"]
    return [f"--ndb-tls-search-path={folder}/{NO_TLS}"] if knows_tls(mysql_version) else []


def knows_tls(mysql_version: str) -> bool:
    """Return whether NDB of this version can encrypt its links."""
    return is_at_least(mysql_version, OLDEST_WITH_TLS)


def tls_keys(plan_: Plan) -> dict[str, dict[str, str]]:
    """Return the keys each host needs: by host name and key type, the address it is bound to.

    NDB looks for a key by type: all data nodes of a host share one, and so do its MySQL servers.
    The management node's host has one for `ndb_mgm` too.
    """
    wanted: dict[str, dict[str, str]] = {}
    types = {"ndb_mgmd": (MGMD_KEY, API_KEY), "ndbmtd": (DATA_KEY,), "mysqld": (API_KEY,)}
    for node in plan_.nodes:
        wanted.setdefault(node.host, {}).update(dict.fromkeys(types[node.role], node.address))
    return wanted


def authority_argv(program: str, options_file: str, folder: str) -> list[str]:
    """Return the command that makes a certification authority in a folder.

    The `options_file` names the folder and the pass phrase, which is on no command line.
    """
    return [program, f"--defaults-file={options_file}", "--create-CA", f"--to-dir={folder}"]


def authority_options(folder: str, pass_phrase: str) -> str:
    """Return the text of the options file of `ndb_sign_keys`."""
    return f"[ndb_sign_keys]\npassphrase={pass_phrase}\nCA-search-path={quoted(folder)}\n"


def key_argv(program: str, options_file: str, folder: str, type_: str, address: str) -> list[str]:
    """Return the command that makes a key and a certificate bound to an address.

    Those of data nodes are bound to none: NDB compares their addresses with config.ini (manual,
    "Overview of TLS for NDB Cluster").
    """
    argv = [program, f"--defaults-file={options_file}", "--no-config", "--create-key"]
    argv += [f"--node-type={type_}", f"--bound-hostname={address}"]
    return [*argv, f"--duration={TLS_KEY_S}", f"--to-dir={folder}"]


def binding(share: Share) -> list[str]:
    """Return the numactl prefix that binds a process to its CPUs and to their memory."""
    if not share.cpus:
        return []
    prefix = ["numactl", "-C", topology.format_cpu_list(share.cpus)]
    if share.memory_nodes:
        prefix += ["-m", ",".join(str(node) for node in share.memory_nodes)]
    return prefix


def node_argv(plan_: Plan, node: Node, binaries: Binaries, initial: bool = True) -> list[str]:
    """Return the command of a node.

    All stay in the foreground: a data node without the angel process that would restart it behind
    our back. With `initial` False an NDB node keeps the data and the configuration that it has.
    What the plan's overlay or the server's own options set in my.cnf is left out, as a command line
    would overrule it.
    """
    folder = plan_.config_dir(node)
    if node.role == "mysqld":
        argv = [str(binaries.mysqld), f"--defaults-file={folder}/{MY_CNF}"]
        argv += [f"--defaults-group-suffix=.{node.number}"]
    else:
        argv = [str(getattr(binaries, node.role)), "--no-defaults", f"--ndb-nodeid={node.node_id}"]
        if node.role == "ndbmtd":
            argv += [f"--ndb-connectstring={connectstring(plan_)}", "--foreground"]
        else:
            argv += [f"--configdir={node.data_dir}", f"--config-file={folder}/{CONFIG_INI}"]
            argv += ["--nodaemon", f"--bind-address={node.endpoint}"]
        argv += ["--initial"] if initial else []
    argv += tls_options(folder, binaries.mysqld_version, plan_.tls)
    if node.role == "mysqld":
        own = (*plan_.overlay.my_cnf, *dict(node.options))
        set_ = {f"--{name.replace('_', '-')}" for name in own}
        argv += [word for word in binaries.mysqld_args if word.partition("=")[0] not in set_]
    return [*binding(node.share), *argv]


def template_argv(binaries: Binaries, data_dir: str, user: str) -> list[str]:
    """Return the command that initialises the data folder of which every server gets a copy.

    NDB itself is off during `--initialize-insecure` (mysqld's own rule).
    """
    return [
        str(binaries.mysqld),
        "--no-defaults",
        "--initialize-insecure",
        f"--datadir={data_dir}",
        f"--{_small_redo_log(binaries.mysqld_version)}",
        "--innodb-doublewrite=OFF",
        *([f"--user={user}"] if user else []),
        *binaries.mysqld_args,
    ]
