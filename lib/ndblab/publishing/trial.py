"""What the installed programs say about an experiment's settings, before anything is measured.

`ndb_mgmd`, `mysqld` and sysbench read what they would be given, and start nothing.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab import install
from ndblab.cluster import node_log, start_stop
from ndblab.comparing import installed
from ndblab.error import LabError
from ndblab.machine import commands, host
from ndblab.planning import config
from ndblab.workloads import registry, sysbench, sysbench_output

if TYPE_CHECKING:
    from ndblab.design.experiment import Experiment
    from ndblab.design.variant import Variant
    from ndblab.install import Binaries
    from ndblab.planning.deployment import Plan
    from ndblab.planning.profile import Profile
    from ndblab.workloads.load_generator import Job


def check(experiment: Experiment, size: Profile) -> None:
    """Refuse settings that a program does not take, and loads that a cluster has no servers for.

    If nothing is installed yet, or the cluster has several hosts, nothing is checked. LabError for
    the first setting or load refused: it names the variant, and quotes the program.
    """
    binaries = install.find()
    if binaries is None or experiment.hosts or experiment.compares_engines:
        return
    places = start_stop.places(start_stop.home(), None)
    plans = experiment.plans(size, "auto", host.read(), places)
    for variant in experiment.variants:
        for complaint in _complaints(variant, plans[variant.name], binaries):
            raise _refusal(f"variant {variant.name}", complaint)
    sides = [s for c in experiment.planned_contrasts(size) for s in (c.a, c.b) if s]
    loads = [(side.point, side.options) for side in sides]
    loads += [(point, {}) for point in experiment.sweep(size).points]
    asked = set()
    for point, options in loads:
        job = experiment.job(size, binaries, plans[point.variant], point, options)
        key = point.workload, *job.option_words
        if key not in asked and registry.find(point.workload) is sysbench:
            asked.add(key)
            if complaint := _of_sysbench(job):
                raise _refusal(f"load of variant {point.variant}", complaint)


def _complaints(variant: Variant, plan: Plan, binaries: Binaries) -> Iterator[str]:
    if variant.config_ini:
        try:
            installed.read_parameters(binaries, config.config_ini(plan, binaries.ndb_version))
        except LabError as error:
            yield f"ndb_mgmd: {error.found}"
    if variant.my_cnf and (complaint := _of_mysqld(plan, binaries)):
        yield f"mysqld: {complaint}"


def _of_mysqld(plan: Plan, binaries: Binaries) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / config.MY_CNF
        file.write_text(config.my_cnf(plan, binaries.mysqld_version))
        argv = [binaries.mysqld, f"--defaults-file={file}", *binaries.mysqld_args]
        argv += [f"--datadir={folder}", "--validate-config"]
        argv += ["--user=root"] if os.geteuid() == 0 else []
        try:
            commands.output(argv, what="mysqld does not accept these settings")
        except commands.ChildFailed as failure:
            return node_log.reason("mysqld", failure.output, failure.output).rpartition("] ")[2]
    return ""


def _of_sysbench(job: Job) -> str:
    *argv, _ = sysbench.commands(job)[-1].argv
    environment = [f"{name}={value}" for name, value in job.binaries.sysbench_env.items()]
    try:
        commands.output(["env", *environment, *argv, "help"], what="sysbench refuses its options")
    except commands.ChildFailed as failure:
        return sysbench_output.complaint(failure.output) or node_log.tail(failure.output)
    return ""


def _refusal(where: str, complaint: str) -> LabError:
    return LabError(
        f"The {where} has a setting that is not accepted",
        found=complaint,
        next_step="Correct it in experiment.py.",
    )
