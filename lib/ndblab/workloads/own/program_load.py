"""The load generator of a program of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import OK, Command, Filled, Job, Load
from ndblab.workloads.own import dump_file, program
from ndblab.workloads.own.scripted import try_out

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries


@dataclass(frozen=True)
class ProgramLoad:
    """A load generator: the program called `name`; its tables are sysbench's or those of a dump."""

    name: str
    line: program.CommandLine
    files: Mapping[str, str]
    schema: Path | None = None

    ROLE = program.ROLE
    reads_only = False
    own_prepare = False
    statements = ()

    def versions(self, binaries: Binaries) -> dict[str, str]:
        """Return the version of sysbench, if it fills the tables."""
        return {} if self.schema else sysbench.versions(binaries)

    def prepare_command(self, job: Job) -> Command:
        """Return the command that makes the tables."""
        if self.schema:
            return dump_file.prepare_command(job, self.schema)
        return sysbench.prepare_command(job)

    def commands(self, job: Job) -> list[Command]:
        """Return the commands of a run: warm-up, unless it takes 0 s, and run."""
        lengths = (job.profile.warmup_s, job.profile.duration_s)
        return [program.command(self.line, job, seconds) for seconds in lengths if seconds]

    def prepare(self, cluster: Cluster, job: Job) -> Filled:
        """Make the tables, and try the program on them; LabError if either fails."""
        if self.schema:
            filled = dump_file.load(cluster, job, self.schema)
        else:
            filled = sysbench.prepare(cluster, job)
        try_out(self, cluster, job)
        return filled

    def warm_up(self, cluster: Cluster, job: Job) -> str:
        """Run for the warm-up's seconds; return "ok", or why that failed."""
        if not job.profile.warmup_s:
            return OK
        first = job.lasting(job.profile.warmup_s)
        with program.running(cluster, self.commands(job)[0], first) as load:
            return load.finish().status

    def running(self, cluster: Cluster, job: Job) -> AbstractContextManager[Load]:
        """Run the program for the run's seconds, for the length of a `with` block at most."""
        return program.running(cluster, self.commands(job)[-1], job)
