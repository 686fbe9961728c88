"""What is known of a measurement on others' cluster before the first statement that writes."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndblab.attach import attachable, own_schema
from ndblab.attach import cluster as attached
from ndblab.attach import facts as reading
from ndblab.attach import plan as planning
from ndblab.error import LabError
from ndblab.install.binaries import is_at_least
from ndblab.machine import host
from ndblab.measuring import measurement
from ndblab.planning.shape import Places

if TYPE_CHECKING:
    from ndblab.attach.attachable import Attachable
    from ndblab.attach.facts import Facts
    from ndblab.attach.target import Target
    from ndblab.design.experiment import Experiment
    from ndblab.install import Binaries
    from ndblab.measuring.request import Request
    from ndblab.planning.deployment import Plan
    from ndblab.planning.profile import Profile

OTHERS_PER_S = 100
"""Up to this rate of data node operations, nobody else counts as using the cluster."""
_KINDS = {"NDB": "data nodes", "MGM": "management nodes", "API": "API nodes"}


@dataclass(frozen=True)
class Prepared:
    """What is known before the first statement that writes.

    `given` has those options of a size that the user gave; `options` is the descriptor of the file
    with the password, if there is one.
    """

    size: Profile
    given: Mapping[str, object]
    binaries: Binaries
    machine: host.Host
    target: Target
    facts: Facts
    plan: Plan
    allowed: Attachable
    options: int | None

    def notes(self, experiment: Experiment, minutes: int | None = None) -> Iterator[str]:
        """Yield what the user should know before it begins."""
        yield f"{experiment.name}: {experiment.question}"
        yield self.machine.describe()
        yield measurement.expected(self.allowed, self.size, minutes)
        yield f"budget {self.plan.budget.kind}: {self.plan.budget.reason}"
        if out := attachable.left_out(experiment, len(self.target.endpoints), self.size):
            yield "\n  ".join(["not with --attach:", *out])
        idle = self.facts.deactivated
        for kind, named in _KINDS.items():
            if ids := ", ".join(str(node.node_id) for node in idle if node.kind == kind):
                yield f"deactivated in this cluster, and so left out: {named} {ids}"
        if (others := attached.others_per_s(self.target)) > OTHERS_PER_S:
            yield f"others use the cluster too, with {others:.0f} operations/s before it begins"
        if len(list(attached.local_processes(self.facts, self.plan))) < len(self.plan.nodes):
            yield "some nodes run elsewhere: no CPU of its processes, only of NDB threads"
        if any(endpoint.on_network for endpoint in self.target.endpoints):
            yield "over the network sysbench sends its queries and their answers in plain text"
        servers = self.facts.servers
        if logging := [str(s.endpoint) for s in servers if s.variables.get("log_bin") == "ON"]:
            yield (
                f"{', '.join(logging)} write a binary log: what fills the lab's schema goes into "
                "it, and to replicas"
            )
        if any(not is_at_least(server.version, "9.0.0") for server in servers):
            yield "ndbinfo before 9.0 does not tell transporters: UseShm does"


@contextlib.contextmanager
def prepared(
    experiment: Experiment, target: Target, request: Request, binaries: Binaries, clearing: bool
) -> Iterator[Prepared]:
    """Read a cluster and decide what is measured; first remove what labs have left, if `clearing`.

    LabError if the cluster or the account cannot be used for it.
    """
    given = {key: value for key, value in request.overrides.items() if value is not None}
    fitting = fit(experiment, request.size, given, len(target.endpoints))
    facts = read(target, binaries)
    if clearing and (done := attached.detach(target, facts)):
        print(f"cleared up after a killed lab: {done}", file=sys.stderr)
        facts = read(target, binaries)
    options = [variant.table_options for variant in experiment.variants]
    more = [option for option in dict.fromkeys(options[1:]) if option != options[0]]
    more = more if experiment.sets_variables else []
    tables = fitting.tables * (1 + len(more))
    planning.check_room(facts, dataclasses.replace(fitting, tables=tables))
    here = str(attached.home())
    plan = planning.plan(facts, Places(here, here), max(fitting.clients))
    with attached.secret(target.login) as handle:
        allowed = attachable.part(
            experiment, len(target.endpoints), facts.transporter,
            schema=own_schema.new_name(facts.servers[0].node_id), user=target.login.user,
            options_file=f"/proc/self/fd/{handle}" if handle is not None else "",
            more={option: own_schema.new_name(facts.servers[0].node_id) for option in more},
        )  # fmt: skip
        yield Prepared(fitting, given, binaries, host.read(), target, facts, plan, allowed, handle)


def read(target: Target, binaries: Binaries) -> Facts:
    """Read a cluster; LabError if it is incomplete, or the endpoints belong to another one."""
    facts = reading.read(target, binaries)
    planning.check(facts)
    return facts


def fit(experiment: Experiment, name: str, given: Mapping[str, object], endpoints: int) -> Profile:
    """Return the size that so many endpoints allow; LabError if the user asked for more servers."""
    size = experiment.size(name, given)
    if max(size.servers) <= endpoints:
        return size
    if "servers" in given:
        raise LabError(
            "There are more --servers than endpoints",
            found=f"{max(size.servers)} servers, {endpoints} endpoints",
            expected=f"at most {endpoints}",
            next_step="Name more --endpoints, or fewer --servers.",
        )
    fitting = tuple(n for n in size.servers if n <= endpoints)
    return dataclasses.replace(size, servers=fitting or (endpoints,))
