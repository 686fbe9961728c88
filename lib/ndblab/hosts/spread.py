"""A cluster over several hosts: which node runs where, with which share of that host.

Each host is planned on its own, as if it carried the whole cluster; a node there gets the share
that its role has in that plan, so that a data node has the same part of its host as in the brief's
one box.
"""

from __future__ import annotations

import dataclasses
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ndblab.error import LabError, naming
from ndblab.hosts import roles
from ndblab.hosts.roles import DATA, LOAD, MANAGEMENT, SQL, PlacedHost
from ndblab.machine.host import Host
from ndblab.planning import deployment
from ndblab.planning.cpu_budget import Share
from ndblab.planning.deployment import HostPlan, Node, Plan
from ndblab.planning.node import FIRST_DATA_NODE_ID, REPLICAS, domain
from ndblab.planning.shape import Places, Shape


@dataclass(frozen=True)
class Hosts:
    """Several hosts with known addresses, and a description of each by name.

    On an `insecure_network`, which the user trusts, NDB's own links are plain text.
    """

    placed: tuple[PlacedHost, ...]
    described: Mapping[str, Host]
    insecure_network: bool = False


def stand_ins(
    wanted: Sequence[tuple[str, ...]],
    described: Host,
    given: str = roles.NAMESPACES,
    insecure_network: bool = True,
) -> Hosts:
    """Return hosts as described, with names as addresses, without connecting to any.

    Parameters and errors are those of `connected.opened`, before it connects.
    """
    if given == roles.NAMESPACES:
        mine = wanted or roles.usual_roles(roles.USUAL_NAMESPACES)
        placed = tuple(
            PlacedHost(name, name, name, f"{roles.FOLDER}/{name}", own)
            for name, own in zip(string.ascii_lowercase, mine, strict=False)
        )
    else:
        placed = tuple(
            dataclasses.replace(one, address=one.address or one.name)
            for one in roles.suitable(given, wanted)
        )
    known = {one.name: described for one in placed}
    return Hosts(placed, known, insecure_network)


def make(hosts: Hosts, shape: Shape) -> Plan:
    """Plan the cluster of `shape` over several hosts.

    Data nodes and MySQL servers are dealt to the hosts of their role in turn, servers first to
    hosts with a data node. All data nodes have the threads and the memory that suit the smallest of
    their hosts. A server reaches a data node on its own host by the transporter of `shape`, and all
    others by TCP. LabError if the hosts would be divided in different ways, or one cannot carry its
    part.
    """
    placed, described = hosts.placed, hosts.described
    groups = max(shape.node_groups, roles.node_groups(placed))
    of_role = {role: [host for host in placed if role in host.roles] for role in roles.ROLES}
    [management_host], [load_host] = of_role[MANAGEMENT], of_role[LOAD]
    data_hosts = of_role[DATA]
    sql_hosts = sorted(of_role[SQL], key=lambda host: DATA not in host.roles)
    a_host = -(-groups // len(data_hosts)) if len(data_hosts) > 1 else groups
    whole = {host.name: _whole(host, described[host.name], shape, a_host) for host in placed}
    _check_budgets(whole)
    smallest = min((host.name for host in data_hosts), key=lambda n: described[n].usable_cpus)
    base = whole[smallest]
    lock_pages = all(whole[host.name].memory.lock_pages for host in data_hosts)
    places = shape.places
    return dataclasses.replace(
        base,
        places=places,
        management_node=_moved(
            whole[management_host.name].management_node, management_host, "ndb_mgmd", places, 1
        ),
        data_nodes=tuple(
            _data_node(number, data_hosts, whole, places, shape.domains)
            for number in range(1, REPLICAS * groups + 1)
        ),
        servers=tuple(_server(node, sql_hosts, whole, places) for node in base.servers),
        sysbench=_of_clients(load_host, whole),
        sql_side=whole[sql_hosts[0].name].sql_side,
        memory=dataclasses.replace(base.memory, lock_pages=lock_pages),
        tls=not hosts.insecure_network,
        hosts=tuple(
            HostPlan(
                host.name, host.address, host.roles, host.folder,
                whole[host.name].sql_side, _of_clients(host, whole),
            )
            for host in placed
        ),
    )  # fmt: skip


def _whole(host: PlacedHost, described: Host, shape: Shape, node_groups: int) -> Plan:
    """Plan a host as if it were the only one."""
    places = Places(host.folder, host.folder, shape.places.base_port)
    own = dataclasses.replace(shape, places=places, node_groups=node_groups, networking=True)
    with naming(f"Host {host.name}"):
        return deployment.make(described, own)


def _check_budgets(whole: Mapping[str, Plan]) -> None:
    kinds = {name: plan.budget.kind for name, plan in whole.items()}
    if len({*kinds.values()}) > 1:
        raise LabError(
            "The hosts would be divided in different ways",
            found=", ".join(f"{name}: {kind}" for name, kind in kinds.items()),
            expected="one budget for all",
            next_step="Choose one that is possible on all of them: --budget shared always is.",
        )


def _data_node(
    number: int,
    hosts: Sequence[PlacedHost],
    whole: Mapping[str, Plan],
    places: Places,
    domains: bool,
) -> Node:
    """Place the `number`-th data node; those of a node group have successive numbers."""
    place, turn = (number - 1) % len(hosts), (number - 1) // len(hosts)
    own = whole[hosts[place].name].data_nodes[turn]
    node = dataclasses.replace(
        own,
        number=number,
        node_id=FIRST_DATA_NODE_ID + number - 1,
        domain=domain(number) if domains else 0,
    )
    return _moved(node, hosts[place], "ndbd", places, turn + 1)


def _server(
    node: Node, hosts: Sequence[PlacedHost], whole: Mapping[str, Plan], places: Places
) -> Node:
    """Place a server; ports start at the same number on each host, as sysbench requires."""
    place, turn = (node.number - 1) % len(hosts), (node.number - 1) // len(hosts)
    shares = whole[hosts[place].name].servers
    node = dataclasses.replace(node, share=shares[turn % len(shares)].share)
    socket = Places(hosts[place].folder, hosts[place].folder).socket(node.number)
    return dataclasses.replace(
        _moved(node, hosts[place], "mysqld", places, turn + 1), socket=socket
    )


def _moved(node: Node, host: PlacedHost, folder: str, places: Places, turn: int) -> Node:
    """Move a node to a host, where it is the `turn`-th of its role."""
    return dataclasses.replace(
        node,
        host=host.name,
        address=host.address,
        data_dir=f"{host.folder}/{folder}.{node.number}",
        port=places.port(node.role, turn, networking=True),
    )


def _of_clients(host: PlacedHost, whole: Mapping[str, Plan]) -> Share:
    """Return what load generators may use: what servers leave, or the whole host without them."""
    return whole[host.name].sysbench if {SQL, DATA} & {*host.roles} else Share()
