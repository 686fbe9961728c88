"""The keys of NDB's own TLS: without one, nobody can join a cluster, read it or listen to it.

NDB's own `ndb_sign_keys` makes the keys and certificates of each host's nodes, signed by an
authority of this cluster. The authority's key is on this machine only, and only until it has
signed them: afterwards, nobody can make another one.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import pymysql

from ndblab.error import LabError
from ndblab.install import ndb_tools
from ndblab.machine.local import LOCAL
from ndblab.planning import config

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.install.binaries import Ndb

SIGN_KEYS = "ndb_sign_keys"
TOOL = ndb_tools.tool(SIGN_KEYS, "TLS between hosts (--hosts)")
AUTHORITY = "ndb-authority"
"""Folder, below the cluster's, that exists while keys are made."""


def program(ndb: Ndb) -> Path:
    """Return the path of `ndb_sign_keys`.

    LabError if NDB is too old for TLS, or came without that program.
    """
    what = "NDB's links cannot be encrypted"
    otherwise = "between hosts of a network that you trust, --insecure-network leaves them so."
    if not config.knows_tls(ndb.mysqld_version):
        raise LabError(
            what,
            found=f"{ndb.product}, which has no TLS",
            expected=f"NDB Cluster {config.OLDEST_WITH_TLS} or newer",
            next_step=f"Install a newer release; or, {otherwise}",
        )
    try:
        return ndb_tools.find(ndb, SIGN_KEYS)
    except LabError as error:
        raise LabError(
            what,
            found=error.found,
            expected=f"{SIGN_KEYS} of {ndb.product}, which makes their keys",
            next_step=f"{error.next_step}; or, {otherwise}",
        ) from None


def give(cluster: Cluster) -> None:
    """Make an authority, and give each host the keys of its nodes, and no others.

    LabError if `ndb_sign_keys` is missing or fails, or a host's disk refuses.
    """
    sign = str(program(cluster.binaries))
    remove(cluster.folder)
    authority = cluster.folder / AUTHORITY
    options = authority / "options.cnf"
    LOCAL.make_folder(authority)
    try:
        text = config.authority_options(str(authority), secrets.token_hex(24))
        LOCAL.put(options, text)
        _run(config.authority_argv(sign, str(options), str(authority)))
        for host, bound in config.tls_keys(cluster.plan).items():
            made = authority / f"of-{host}"
            LOCAL.make_folder(made)
            for type_, address in bound.items():
                _run(config.key_argv(sign, str(options), str(made), type_, address))
            site = cluster.site(host)
            there = site.folder / config.TLS_KEYS
            site.machine.remove(site.folder, config.TLS_KEYS)
            site.machine.make_folder(there)
            for file in made.iterdir():
                site.machine.put(there / file.name, file.read_text())
    finally:
        LOCAL.remove(cluster.folder, AUTHORITY)


def remove(folder: Path) -> None:
    """Remove a cluster's keys from its folder on this machine, and the authority's files."""
    LOCAL.remove(folder, AUTHORITY, config.TLS_KEYS)


def _run(argv: list[str]) -> None:
    LOCAL.run(
        argv,
        what="The keys for NDB's TLS cannot be made",
        next_step="On a network that you trust: --insecure-network.",
    )


def encryption(cluster: Cluster) -> list[tuple[int, int, str, int]]:
    """List node id, remote node id, type, and 1 if encrypted, of each connected data node link.

    LabError if ndbinfo does not show it.
    """
    try:
        return cluster.query(
            "SELECT node_id, remote_node_id, type, encrypted FROM ndbinfo.transporter_details"
            " WHERE status = 'CONNECTED' AND node_id <> remote_node_id"
        )
    except pymysql.Error as error:
        raise LabError(
            "It is unknown whether NDB's links are encrypted",
            found=str(error),
            expected="the column `encrypted` of ndbinfo.transporter_details",
            next_step="Use NDB Cluster 9.0 or newer; on a network that you trust, "
            "--insecure-network.",
        ) from None


def check_encryption(cluster: Cluster) -> None:
    """Make sure that every TCP link of every data node is encrypted.

    Shared-memory links stay within a host, and have no TLS. LabError if one is plain text.
    """
    links = encryption(cluster)
    plain = [(node, remote) for node, remote, kind, tls in links if kind != "SHM" and not tls]
    if plain or not links:
        pairs = ", ".join(f"{node} and {remote}" for node, remote in plain)
        told = f"plain text between nodes {pairs}" if plain else "ndbinfo tells of no link"
        raise LabError(
            "NDB's links are not encrypted as planned",
            found=told,
            expected="TLS on every link that uses TCP",
            next_step="Look at the logs in the cluster's folder; nothing was measured.",
        )
