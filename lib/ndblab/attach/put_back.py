"""Global variables of MySQL servers that are not the lab's own: set for a while, then put back.

Their values go into the record of the lab's folder before the first one changes, so that a later
lab can put back what a killed one has left.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ndblab.attach.facts import Facts
from ndblab.attach.target import Session, Target
from ndblab.cluster import variables
from ndblab.error import LabError
from ndblab.formatting import listed
from ndblab.machine import cleanup, commands

_RECORDED = "variables"


def shown(session: Session, names: Iterable[str]) -> dict[str, str]:
    """Return the global values of a MySQL server for those of the names that it knows."""
    known = {str(name): str(value) for name, value in session.run("SHOW GLOBAL VARIABLES")}
    return {name: known[name] for name in names if name in known}


@contextlib.contextmanager
def held(names: Iterable[str], target: Target, facts: Facts, folder: Path) -> Iterator[None]:
    """Allow global variables to be set within a `with` block, and put them back after it.

    LabError if the account may not set them; it says what to type.
    """
    names = sorted(set(names))
    before: dict[str, dict[str, str]] = {}
    for number, server in enumerate(facts.servers, 1) if names else ():
        with target.session(number) as session:
            before[_uuid(server.variables)] = values = shown(session, names)
            # The same value again changes nothing, and shows whether the account may.
            _set(session, values)
    if not before:
        yield
        return
    # What a killed lab has left to put back on these or other servers is still to be put back.
    left = cleanup.record(folder).get(_RECORDED, {})
    own = {uuid: values | left.get(uuid, {}) for uuid, values in before.items()}
    cleanup.add_to_record(folder, {_RECORDED: left | own})
    try:
        yield
    finally:
        with commands.handling(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            restore(target, facts, folder)


def restore(target: Target, facts: Facts, folder: Path) -> str:
    """Put back what the record of the lab's folder names; return it in words, empty if nothing.

    What cannot be put back stays in the record, and is named on standard error.
    """
    left, done = dict(cleanup.record(folder).get(_RECORDED, {})), []
    for number, server in enumerate(facts.servers, 1):
        if values := left.get(_uuid(server.variables)):
            try:
                with target.session(number) as session:
                    _set(session, values)
            except LabError as error:
                print(f"{_assigned(values)} could not be put back on {server.endpoint} ({error})",
                      file=sys.stderr)  # fmt: skip
                continue
            left.pop(_uuid(server.variables))
            done.append(f"{_assigned(values)} on {server.endpoint}")
    if done:
        cleanup.add_to_record(folder, {_RECORDED: left})
    return listed(done) if done else ""


def _set(session: Session, values: Mapping[str, str]) -> None:
    for name, value in values.items():
        try:
            session.run(f"SET GLOBAL {name} = %s", variables.literal(value))
        except LabError as error:
            raise LabError(
                f"{session.endpoint} refuses SET GLOBAL {name}",
                found=error.found,
                expected="an account that may set global variables",
                next_step="Let an administrator type: GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO the "
                "account.",
            ) from None


def _uuid(known: Mapping[str, str]) -> str:
    return known.get("server_uuid", "")


def _assigned(values: Mapping[str, str]) -> str:
    return listed([f"{name}={value}" for name, value in values.items()])
