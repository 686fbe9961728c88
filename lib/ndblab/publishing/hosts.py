"""The hosts that a notebook can show, each with the plan of the brief's cluster on it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from ndblab.design.catalogue import find
from ndblab.judging import publication
from ndblab.machine import host
from ndblab.measuring import recorded
from ndblab.planning import deployment

BRIEF, THIS, RECORDED = "brief", "this", "recorded"
NAMES = {BRIEF: "the brief's server", THIS: "this host", RECORDED: "the recorded host"}
TYPICAL = 6
"""The brief's figure whose dataset represents the host and versions of all recorded datasets."""


def brief() -> host.Host:
    """Return the brief's own server."""
    return host.load(publication.FOLDER / "host.json")


def with_plan(which: str = RECORDED) -> tuple[host.Host, deployment.Plan]:
    """Return a host and the plan of a cluster with 16 MySQL servers on it.

    LabError if there is no such description.

    Parameters
    ----------
    which : "brief" for the brief's server, with the CPUs it published; "recorded" for the host of
        the recorded datasets; "this" for the current host; or the file of a host description, as
        `./lab doctor --json` prints it.
    """
    experiment, places = find(figure=TYPICAL), deployment.Places(brief=which == BRIEF)
    if which == RECORDED:
        data = recorded.obtain(experiment.name)
        machine = host.from_dict(dict(data.host))
        size = experiment.size("quick", {"clients": tuple(data.manifest["profile"]["clients"])})
        shape = experiment.cluster_shape(size, "default", data.budget, places)
        reason = data.manifest["plan"]["budget"]["reason"]
        budget = deployment.Budget(data.budget, reason)
        return machine, dataclasses.replace(deployment.make(machine, shape), budget=budget)
    known = {BRIEF: brief, THIS: host.read}
    machine = known[which]() if which in known else host.load(Path(which))
    size = experiment.size("brief" if which == BRIEF else "quick")
    shape = experiment.cluster_shape(size, "default", "auto", places)
    return machine, deployment.make(machine, shape)


def versions(which: str = RECORDED) -> dict[str, str]:
    """Return the versions of NDB, mysqld and sysbench; empty if none is installed or known."""
    if which == RECORDED:
        return dict(recorded.obtain(find(figure=TYPICAL).name).manifest["versions"])
    from ndblab import install

    binaries = install.find() if which == THIS else None
    if binaries is None:
        return {}
    names = ("ndb", "mysqld", "sysbench")
    return {name: getattr(binaries, f"{name}_version") for name in names}
