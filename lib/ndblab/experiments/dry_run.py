"""What a measurement would do, without doing it: its plan, its time, its files, its commands.

In: an experiment and a host, this one, a described one or the brief's. Out: text.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from ndblab import install
from ndblab.claims import publication
from ndblab.error import LabError
from ndblab.experiments import catalogue, measurement
from ndblab.install import Binaries
from ndblab.machine import host
from ndblab.planning import config, deployment
from ndblab.workloads import registry
from ndblab.workloads.load_generator import Job

BRIEF_HOST = "brief"
PUBLISHED_NDB, PUBLISHED_SYSBENCH = "8.0.26", "1.1.0"
"""The versions of the brief (Table 2 and its text), for hosts whose programs are not here."""


def configuration(
    described: str | None, size: str, budget: str, overrides: dict[str, object]
) -> dict[str, str]:
    """Write config.ini and my.cnf of the multi-server sweep for a host, by file name.

    Parameters
    ----------
    described : the file of a host description, "brief" for the brief's own server with the
        places it published, or None for this host.
    """
    experiment = catalogue.find(figure=6)
    wanted = experiment.size("brief" if described == BRIEF_HOST else size, overrides)
    _, decided = _decide(experiment, wanted, budget, None, described, "default")
    binaries = _binaries(described)
    version = binaries.ndb_version if binaries else PUBLISHED_NDB
    return {
        config.CONFIG_INI: config.config_ini(decided),
        config.MY_CNF: config.my_cnf(decided, version),
    }


def dry_run(
    experiment: catalogue.Experiment,
    size: str,
    budget: str,
    overrides: dict[str, object],
    port: int | None,
    described: str | None = None,
) -> str:
    """Say what a measurement would do: the plan, the time, and every command in its order.

    Parameters
    ----------
    described : as for `configuration`.
    """
    wanted = experiment.size(size, overrides)
    todo = experiment.sweep(wanted)
    machine, decided = _decide(experiment, wanted, budget, port, described, "default")
    estimate = measurement.minutes(measurement.estimate_s(experiment, wanted))
    lines = [
        f"# {experiment.name}: {experiment.question}",
        f"# {machine.describe()}",
        f"# budget {decided.budget.kind}: {decided.budget.reason}",
        f"# {len(todo)} runs, about {estimate} once installed",
    ]
    if described is None:
        try:
            measurement.check(machine, decided)
        except LabError as error:
            lines += [f"# refused here: {line}" for line in str(error).splitlines()]
    binaries = _binaries(described)
    if binaries is None:
        return "\n".join([*lines, "# NDB Cluster is not installed yet: ./lab install"])
    plans = {
        v.name: _decide(experiment, wanted, budget, port, described, v.name)[1]
        for v in experiment.variants
    }
    running = None
    for point, repeat in todo.order():
        needed = plans[point.variant]
        if needed != running:
            lines += ["", f"# the cluster of variant {point.variant}", *_changes(needed, decided)]
            lines += (shlex.join(argv) for argv in _start(needed, binaries))
            filling = Job(binaries, wanted, point, needed.servers)
            lines.append(registry.find(point.workload).prepare_command(filling).line())
            running = needed
        lines.append(f"# {point.run_id(repeat)}")
        variant = experiment.variant(point.variant)
        if variant.fault is not None:
            before_s = wanted.warmup_s + wanted.duration_s
            lines += [f"# {line}" for line in variant.fault.describe(before_s)]
        job = measurement.job_of(binaries, wanted, needed, point, variant)
        prefix = config.binding(needed.sysbench)
        lines += (command.line(prefix) for command in registry.find(point.workload).commands(job))
    return "\n".join(lines)


def _decide(
    experiment, size, budget, port, described, variant
) -> tuple[host.Host, deployment.Plan]:
    if described is None:
        return measurement.plan_for(experiment, size, budget, port, variant)
    if described == BRIEF_HOST:
        machine = host.load(publication.FOLDER / "host.json")
        shape = experiment.cluster_shape(size, variant, budget, deployment.Places(brief=True))
        return machine, deployment.make(machine, shape)
    machine = host.load(Path(described))
    return measurement.plan_for(experiment, size, budget, port, variant, machine)


def _binaries(described: str | None) -> Binaries | None:
    """The programs of this host; of another host their names, as its PATH would find them."""
    if described is None:
        return install.find()
    names = ("mysqld", "ndbmtd", "ndb_mgmd", "ndb_mgm", "sysbench")
    return Binaries(
        **{name: Path(name) for name in names},
        ndb_version=PUBLISHED_NDB,
        mysqld_version=PUBLISHED_NDB,
        sysbench_version=PUBLISHED_SYSBENCH,
        origin="PATH",
        basedir=Path("/usr"),
        mysqld_args=(),
        sysbench_env={},
    )


def _start(decided: deployment.Plan, binaries: Binaries) -> Iterator[list[str]]:
    folder = decided.places.cluster_dir or "."
    yield config.management_argv(decided, binaries, folder)
    for node in decided.data_nodes:
        yield config.data_node_argv(decided, node, binaries)
    for node in decided.servers:
        yield config.server_argv(node, binaries, folder)


def _changes(decided: deployment.Plan, usual: deployment.Plan) -> list[str]:
    """Say which lines of config.ini another cluster has."""
    lines, before = (config.config_ini(p).splitlines() for p in (decided, usual))
    return [f"# config.ini: {line}" for line in lines if line and line not in before]
