"""Variables of running MySQL servers and parameters of running data nodes: set, and read back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import pymysql

from ndblab.error import LabError
from ndblab.planning import setting_value

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.planning.deployment import Node, Plan


@contextlib.contextmanager
def _answering() -> Iterator[None]:
    """Turn what pymysql raises within a function into a LabError."""
    try:
        yield
    except pymysql.err.MySQLError as error:
        raise LabError(
            "A MySQL server does not answer",
            found=str(error.args[-1]),
            next_step="See whether it still runs; the same command resumes.",
        ) from error


@_answering()
def shown(cluster: Cluster, names: Iterable[str], server: int = 1) -> dict[str, str]:
    """Return the global values that a MySQL server shows, by the names that were asked for.

    A name that the server does not know is left out.
    """
    values = {name.lower(): value for name, value in cluster.query("SHOW GLOBAL VARIABLES", server)}
    keys = {name: name.lower().replace("-", "_") for name in names}
    return {name: str(values[key]) for name, key in keys.items() if key in values}


@_answering()
def set_global(cluster: Cluster, values: Mapping[str, object]) -> dict[str, str]:
    """Set variables of every MySQL server; return what the servers then show.

    Open sessions keep their own values. LabError if a server refuses, or shows another value
    afterwards.
    """
    seen: dict[str, str] = {}
    for node in cluster.plan.servers:
        with contextlib.closing(cluster.connect(node.number)) as connection:
            for name, value in values.items():
                try:
                    connection.cursor().execute(f"SET GLOBAL {name} = %s", (literal(value),))
                except pymysql.err.MySQLError as error:
                    raise LabError(
                        f"{node.name} refuses SET GLOBAL {name} = {value}",
                        found=str(error.args[-1]),
                        next_step="Choose a value that it takes.",
                    ) from error
        seen = shown(cluster, values, node.number)
        check(node.name, values, seen)
    return seen


def check(where: str, values: Mapping[str, object], seen: Mapping[str, object]) -> None:
    """Refuse to go on with a setting that a node does not show.

    LabError if a value is missing or differs.
    """
    for name, value in values.items():
        if name not in seen or not setting_value.same(value, seen[name]):
            raise LabError(
                f"{where} does not show the setting {name}",
                found=f"{name}={seen[name]}" if name in seen else "no such setting",
                expected=f"{name}={value}",
                next_step="Nothing is concluded from it; choose a value that it keeps.",
            )


def parameters_shown(query: Callable[[str], list[tuple]]) -> dict[int, dict[str, str]]:
    """Return the parameters that each running data node has, by node id and name.

    `query` runs a statement on a MySQL server of the cluster.
    """
    parameters: dict[int, dict[str, str]] = {}
    for node_id, name, value in query(
        "SELECT v.node_id, p.param_name, v.config_value FROM ndbinfo.config_values v "
        "JOIN ndbinfo.config_params p ON p.param_number = v.config_param "
        "ORDER BY v.node_id, p.param_name"
    ):
        parameters.setdefault(int(node_id), {})[str(name)] = "" if value is None else str(value)
    return parameters


def literal(value: object) -> object:
    """Return a numeric value as a number: a server refuses it as text."""
    number = setting_value.numeral(str(value))
    return value if number is None else number


def neighbours(plan: Plan, server: Node, told: bool) -> list[str]:
    """Return the statements that tell a MySQL server which data node is its own, or that none is.

    A server distributes its transactions over equally near data nodes in turn, by counting. A data
    node that ceases to be its own restarts with a count of zero, and would get all transactions
    until it had caught up (NDB API: `adjust_node_proximity`). So each data node is named for a
    moment.
    """
    own = plan.own_data_node(server).node_id
    named = [own] if told else [*(node.node_id for node in plan.data_nodes), 0]
    return [f"SET GLOBAL ndb_data_node_neighbour = {number}" for number in named]
