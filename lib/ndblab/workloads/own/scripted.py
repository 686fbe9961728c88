"""The load generator of the user's own scripts for sysbench: written by hand, or compiled.

Statements are checked by the server, and the load runs for a second, before anything is measured.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pymysql

from ndblab.error import LabError
from ndblab.planning.workload import is_good
from ndblab.workloads import sysbench, sysbench_output
from ndblab.workloads.execution import executing
from ndblab.workloads.load_generator import Command, Filled, Job, Load
from ndblab.workloads.own import dump_file
from ndblab.workloads.own.program import TOLERATED
from ndblab.workloads.own.replay import quoted_name

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries

IGNORED = "--mysql-ignore-errors=1213,1020,1205,1062,1297"
"""Errors that sysbench counts but survives: its own defaults, duplicate keys, and what NDB calls
temporary. Any other error ends it, with the server's message."""
TRIAL_S, MOST_NAMED = 1, 3
_NO_PREPARING = 1295
"""ER_UNSUPPORTED_PS: sysbench sends these as text."""
_SIZES = {"tables": "--tables=", "table_size": "--table_size="}
_ENGINE = "--mysql-storage-engine="


@dataclass(frozen=True)
class Scripted:
    """A load generator: sysbench with the script of a file called `name`.

    Without a `schema` or a `prepare` of its own, the tables are those of sysbench. `takes` names
    those of the lab's options that the script declares. The server checks `statements`, each with
    its place in the file, before the first run; `databases` has, by that place, the database of
    each that is sent in another than the load's. `folder` has other scripts that this one requires.
    `reads_only` says that no statement changes or locks data.
    """

    name: str
    script: Path
    files: Mapping[str, str]
    schema: Path | None = None
    own_prepare: bool = False
    takes: frozenset[str] = frozenset(_SIZES)
    statements: Sequence[tuple[str, str]] = field(default=(), repr=False)
    databases: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: Path | None = None
    reads_only: bool = False

    ROLE = sysbench.ROLE

    def versions(self, binaries: Binaries) -> dict[str, str]:
        """Return the version of sysbench."""
        return sysbench.versions(binaries)

    def prepare_command(self, job: Job) -> Command:
        """Return the command that makes the tables."""
        if self.schema:
            return dump_file.prepare_command(job, self.schema)
        command = sysbench.prepare_command(job)
        if not self.own_prepare:
            return command
        [program, _, *words, verb] = command.argv
        argv = [program, str(self.script), *words, *job.option_words, verb]
        return self._adapted(replace(command, argv=argv))

    def commands(self, job: Job) -> list[Command]:
        """Return the commands of a run, as `sysbench.commands` does."""
        adapted = []
        for command in sysbench.commands(self._own(job)):
            # Options of the job come later, and win.
            [program, script, *words] = command.argv
            argv = [program, script, IGNORED, *words]
            adapted.append(self._adapted(replace(command, argv=argv)))
        return adapted

    def prepare(self, cluster: Cluster, job: Job) -> Filled:
        """Make the tables, and try the load on them.

        LabError if the tables cannot be made, the server refuses a statement, or the load fails.
        """
        if self.schema:
            filled = dump_file.load(cluster, job, self.schema)
        elif self.own_prepare:
            filled = self._prepare_by_script(cluster, job)
        else:
            filled = sysbench.prepare(cluster, job)
        self.check(cluster, job)
        try_out(self, cluster, job)
        return filled

    def check(self, cluster: Cluster, job: Job) -> None:
        """Have the server prepare each statement; LabError names those that it refuses."""
        refused = []
        with contextlib.closing(cluster.connect(job.servers[0].number)) as connection:
            cursor = connection.cursor()
            for place, statement in self.statements:
                named = self.databases.get(place) or job.database or sysbench.DATABASE
                try:
                    cursor.execute(f"USE {quoted_name(named)}")
                    cursor.execute("PREPARE ndblab_check FROM %s", (statement,))
                except pymysql.Error as error:
                    number, *message = error.args
                    if number != _NO_PREPARING:
                        refused.append(f"{place}: ERROR {number} {' '.join(map(str, message))}")
        # The lab's own clusters have sysbench's usual database.
        attached = bool(job.database)
        if refused:
            more = f"\n            and {len(refused) - MOST_NAMED} more"
            raise LabError(
                f"The server refuses a statement of {self.name}",
                found="\n            ".join(refused[:MOST_NAMED])
                + (more if len(refused) > MOST_NAMED else ""),
                expected="statements for "
                + (f"the tables of {self.schema.name}" if self.schema else "sysbench's tables")
                + (", or for tables that are there, as DATABASE.TABLE" if attached else ""),
                next_step="Mend it."
                if attached
                else "Mend it, or give its tables with --schema DUMP.",
            )

    def warm_up(self, cluster: Cluster, job: Job) -> str:
        """Run for the warm-up's seconds; return "ok", or why that failed."""
        return sysbench.warm_up(cluster, self._own(job), self.commands(job))

    def running(self, cluster: Cluster, job: Job) -> AbstractContextManager[Load]:
        """Run sysbench for the run's seconds, for the length of a `with` block at most."""
        return sysbench.running(cluster, self._own(job), self.commands(job))

    def _own(self, job: Job) -> Job:
        point = replace(job.point, workload=str(self.script))
        return replace(job, point=point, tolerated_errors=TOLERATED)

    def _adapted(self, command: Command) -> Command:
        """Leave out options that the script does not declare, and add its folder to LUA_PATH."""
        unknown = tuple(option for name, option in _SIZES.items() if name not in self.takes)
        if "mysql_storage_engine" not in self.takes:
            unknown += (_ENGINE,)
        argv = [word for word in command.argv if not word.startswith(unknown or ("\0",))]
        env = dict(command.env)
        if self.folder:
            env["LUA_PATH"] = f"{self.folder}/?.lua;{env.get('LUA_PATH', ';')}"
        return replace(command, argv=argv, env=env)

    def _prepare_by_script(self, cluster: Cluster, job: Job) -> Filled:
        database = job.database or sysbench.DATABASE
        cluster.query(f"CREATE DATABASE IF NOT EXISTS {database}")
        filled = sysbench.filling(cluster)
        number = job.servers[0].number
        [(usual,)] = cluster.query("SELECT @@global.default_storage_engine", number)
        cluster.query("SET GLOBAL default_storage_engine = ndbcluster", number)
        try:
            command = self.prepare_command(job)
            with executing(cluster, command, sysbench.PREPARE_TIMEOUT_S) as execution:
                done = execution.wait()
        finally:
            cluster.query(f"SET GLOBAL default_storage_engine = {usual}", number)
        cluster.check_alive()
        if done.exit_status != 0:
            why = sysbench_output.complaint(done.text) or f"sysbench exited {done.exit_status}"
            raise LabError(
                f"{self.name} could not fill its tables",
                found=why,
                expected="a prepare that ends well",
                next_step=f"Try it alone: {command.line()}",
            )
        return filled(dump_file.check_tables(cluster, database, self.name))


def try_out(generator, cluster: Cluster, job: Job) -> None:
    """Run a load for a moment; LabError if that fails."""
    with generator.running(cluster, replace(job.lasting(TRIAL_S), processes=1)) as load:
        report = load.finish()
    cluster.check_alive()
    if not is_good(report.status):
        raise LabError(
            f"The load {generator.name} does not run",
            found=report.status,
            expected=f"queries for {TRIAL_S} s, at most {100 * TOLERATED:g} % of which fail",
            next_step="Mend it; nothing was measured.",
        )


def takes(text: str) -> frozenset[str]:
    """Return which of the lab's options a script declares, or the scripts that it requires do."""
    known = (*_SIZES, "mysql_storage_engine")
    if re.search(r"\brequire\s*\(?\s*[\"']oltp_common[\"']", text):
        return frozenset(known)
    return frozenset(name for name in known if re.search(rf"\b{name}\b\s*=", text))


def prepares(text: str) -> bool:
    """Return whether a script defines a prepare of its own.

    >>> prepares("function prepare()"), prepares("commands = {prepare = {fill}}")
    (True, True)
    >>> prepares("function prepare_statements()")
    False
    """
    return bool(re.search(r"\bfunction\s+prepare\s*\(|\bprepare\s*=\s*[{\w]", text))
