"""What a dataset says of its measurement: its manifest, its identity, and facts of its clusters.

Two measurements with the same identity are the same, and one resumes the other; folders and ports
are no part of it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.design import catalogue
from ndblab.design.experiment import Experiment
from ndblab.error import LabError
from ndblab.hosts import spread
from ndblab.machine.host import Host
from ndblab.planning import config
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.planning.shape import Places
from ndblab.workloads import registry

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.dataset import Writer
    from ndblab.install import Binaries
    from ndblab.planning.deployment import Plan
    from ndblab.planning.point import Point
    from ndblab.planning.profile import Profile

ROOT = Path(__file__).resolve().parents[3]
ANYWHERE = Places("/var/tmp/ndblab/cluster", "/var/tmp/ndblab/cluster")
"""Places assumed when configurations are compared, wherever the cluster really is. They are those
of the recorded datasets, which thus keep their identity."""


def describe(
    experiment: Experiment,
    size: Profile,
    budget: str,
    machine: Host,
    binaries: Binaries,
    overrides: Mapping[str, object] | None = None,
    second: Binaries | None = None,
    hosts: spread.Hosts | None = None,
) -> tuple[dict[str, object], dict[str, object]]:
    """Describe a measurement for its manifest; return that and its identity.

    Parameters
    ----------
    second : the other installation, where engines are compared.
    hosts : the hosts of a cluster over several.
    """
    todo = experiment.sweep(size)
    plans = experiment.plans(size, budget, machine, ANYWHERE, hosts and _anywhere(hosts))
    versions = {"ndb": binaries.ndb_version, "mysqld": binaries.mysqld_version}
    builds = dict(binaries.fingerprint())
    if second:
        versions |= {"second_ndb": second.ndb_version, "second_mysqld": second.mysqld_version}
        builds |= {f"second_{name}": build for name, build in second.fingerprint().items()}
    for workload in {point.workload for point in todo.points}:
        versions |= registry.find(workload).versions(binaries)
    shared = {
        "versions": versions,
        "builds": builds,
        "plan": plans[DEFAULT_VARIANT].identity(),
        "variants": {variant.name: variant.to_dict() for variant in experiment.variants},
        "profile": dataclasses.asdict(size),
    }
    described = {
        **shared,
        "host": machine.to_dict(),
        "overrides": {k: v for k, v in (overrides or {}).items() if v is not None},
        "git_commit": git_commit(),
    }
    identity = {
        **shared,
        "host": machine.fingerprint,
        "config": {
            variant.name: _config_digest(
                plans[variant.name], second if second and variant.second_engine else binaries
            )
            for variant in experiment.variants
        },
        "sweep": dataclasses.asdict(todo),
    }
    if hosts:
        identity["hosts"] = {name: host.fingerprint for name, host in hosts.described.items()}
    if experiment.asked:
        described["asked"] = identity["asked"] = dict(experiment.asked)
    return described, identity | of_experiment(experiment, size)


def _anywhere(hosts: spread.Hosts) -> spread.Hosts:
    """Return hosts without addresses and folders: those of namespaces change every time."""
    folder = ANYWHERE.cluster_dir
    placed = (dataclasses.replace(h, address=h.name, folder=folder) for h in hosts.placed)
    return dataclasses.replace(hosts, placed=tuple(placed))


def of_experiment(experiment: Experiment, size: Profile) -> dict[str, object]:
    """Return what contrasts, and the files of an experiment of one's own, add to an identity."""
    files = catalogue.own_files(experiment)
    own = {"files": files} if files else {}
    if not experiment.contrasts:
        return own
    length = experiment.slice_length(size)
    of = experiment.contrasts.__name__
    noted = {"of": of, "warmup_s": length.warmup_s, "duration_s": length.duration_s}
    return {**own, "contrasts": noted}


def _config_digest(plan: Plan, binaries: Binaries) -> str:
    """Hash the configuration without server ports; another hash means another measurement."""
    servers = tuple(dataclasses.replace(s, port=s.port and 0) for s in plan.servers)
    anywhere = dataclasses.replace(plan, servers=servers)
    text = config.config_ini(anywhere, binaries.ndb_version)
    text += config.my_cnf(anywhere, binaries.mysqld_version)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@functools.cache
def git_commit() -> str | None:
    """Return the commit of the lab that measures, marked if its files have changed since."""
    argv = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


def keep_start(
    writer: Writer, experiment: Experiment, started: Cluster, point: Point, usual: bool
) -> None:
    """Keep the configuration of a cluster, the load's own files, and what the variant shows.

    The files of the `usual` cluster, that of the default variant, bear no variant's name.
    """
    if shown := experiment.after_start:
        known = writer.manifest.get("shown", {})
        writer.note(shown={**known, point.variant: shown(started, point.variant)})
    for name in (config.CONFIG_INI, config.MY_CNF):
        text = started.configuration(name)
        writer.add_config(name if usual else f"{point.variant}.{name}", text)
    for name, text in getattr(registry.find(point.workload), "files", {}).items():
        writer.add_config(name, text)


def note_periods(writer: Writer, clusters: Iterable[Cluster | None]) -> None:
    """Note the longest CPU quota periods, where the kernel has lengthened any."""
    lengthened: list[tuple[str, tuple[int, int]]] = []
    for cluster in filter(None, clusters):
        # A cluster whose host is lost has none to note, and reports its own error.
        with contextlib.suppress(LabError):
            lengthened += cluster.lengthened_us().items()
    known = dict(writer.manifest.get("lengthened_us", {}))
    for node, (set_us, now_us) in lengthened:
        if now_us > known.get(node, (0, 0))[1]:
            known[node] = [set_us, now_us]
    if lengthened:
        writer.note(lengthened_us=known)
