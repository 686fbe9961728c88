"""The schema that the lab has on a cluster that is not its own, under a name nobody else has.

The name is random, and says through which MySQL server the schema was made. A lab that is alive
holds a user-level lock of that name there (GET_LOCK); if the lock is free, the lab is dead. Nothing
is written into, or removed from, a schema of any other name.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import signal
import sys
from collections.abc import Callable, Iterator, Mapping

from ndblab.attach.target import SCHEMA_PREFIX, Session
from ndblab.error import LabError
from ndblab.formatting import count
from ndblab.machine import commands

_NAME = re.compile(rf"{SCHEMA_PREFIX}(\d+)_[0-9a-f]{{16}}")
_OURS = re.compile(r"sbtest\d+")
"""Tables that sysbench makes."""
_CONTENT = """
SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s
UNION ALL SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = %s
UNION ALL SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = %s
""".strip().replace("\n", " ")
_LONGEST_WAIT_S = 31_536_000
"""The most that MySQL allows for wait_timeout: a session that holds a lock is idle for hours."""


def new_name(node_id: int) -> str:
    """Return a name for a schema that is made through the MySQL server with this node id."""
    return f"{SCHEMA_PREFIX}{node_id}_{secrets.token_hex(8)}"


def statements(name: str) -> tuple[list[str], str]:
    """Return what makes a schema, and what removes it once its tables are gone."""
    make = [
        f"SET SESSION wait_timeout = {_LONGEST_WAIT_S}",
        f"SELECT GET_LOCK('{name}', 0)",
        f"CREATE DATABASE `{name}`",
    ]
    return make, f"DROP DATABASE `{name}`"


@contextlib.contextmanager
def held(
    name: str,
    sessions: Mapping[int, Session],
    fresh: Callable[[], contextlib.AbstractContextManager[Session]],
) -> Iterator[None]:
    """Keep a schema for the length of a `with` block, and remove it however the block is left.

    `name` comes from `new_name`, for the first of the `sessions`, whose keys are the node ids of
    their servers. `fresh` opens a new session at the end, when the first ones may be broken.
    LabError if rights are missing, or a session is on another cluster.
    """
    first, *others = sessions.values()
    for statement in statements(name)[0]:
        first.run(statement)
    try:
        for session in others:
            if not session.run(f"SHOW DATABASES LIKE '{name}'"):
                raise LabError(
                    f"{session.endpoint} does not see the schema that {first.endpoint} has made",
                    found=f"no schema {name}",
                    expected="endpoints of the same cluster, and the same rights on each",
                    next_step="Correct --endpoints, or let an administrator give the account the "
                    "same rights there.",
                )
        yield
    finally:
        with commands.handling(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            try:
                with fresh() as session:
                    _remove(session, name)
            except LabError as error:
                print(
                    f"The schema {name} is left on the attached cluster ({error}). The next "
                    "--attach removes it, and so does ./lab cluster.detach.",
                    file=sys.stderr,
                )


def dead(sessions: Mapping[int, Session]) -> list[str]:
    """Return the schemas that killed labs have left.

    The keys of `sessions` are their servers' node ids. LabError if a lab is or may be alive.
    """
    names = []
    pattern = SCHEMA_PREFIX.replace("_", r"\_") + "%"
    for (name,) in next(iter(sessions.values())).run("SHOW DATABASES LIKE %s", pattern):
        if made := _NAME.fullmatch(name):
            _check_dead(name, sessions.get(int(made[1])), made[1])
            names.append(name)
    return names


def remove_left(sessions: Mapping[int, Session]) -> str:
    """Remove the schemas that killed labs have left; return them in words, empty if there are none.

    LabError as for `dead`, or if somebody else has put something into such a schema.
    """
    session = next(iter(sessions.values()))
    return " and ".join(_remove(session, name) for name in dead(sessions))


def _check_dead(name: str, maker: Session | None, node_id: str) -> None:
    if maker is None:
        raise LabError(
            f"The schema {name} is that of another lab, which may be alive",
            found=f"it was made through the MySQL server of node {node_id}",
            expected="one lab at a time on a cluster",
            next_step="Wait for it; or name this server in --endpoints too, which shows whether it "
            "has died; or drop the schema if you know that nobody needs it.",
        )
    [(holder,)] = maker.run("SELECT IS_USED_LOCK(%s)", name)
    if holder is not None:
        raise LabError(
            "Another lab measures this cluster",
            found=f"connection {holder} of {maker.endpoint} holds the lock {name}",
            expected="one lab at a time on a cluster",
            next_step="Wait for it, or end it.",
        )


def _remove(session: Session, name: str) -> str:
    """Remove the lab's tables, and the schema if it has nothing else; say what was removed."""
    content = [part for (part,) in session.run(_CONTENT, name, name, name)]
    tables = [part for part in content if _OURS.fullmatch(part)]
    for table in tables:
        session.run(f"DROP TABLE `{name}`.`{table}`")
    if others := [part for part in content if part not in tables]:
        raise LabError(
            f"The schema {name} has something that the lab did not make",
            found=", ".join(others[:5]),
            expected="the lab's own tables, which are removed",
            next_step="Move it to another schema, and drop this one.",
        )
    session.run(statements(name)[1])
    return f"the schema {name} with {count(len(tables), 'table')}"
