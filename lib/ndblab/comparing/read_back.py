"""Whether running nodes have the settings of their side: without that, no verdict.

No ndbinfo table shows the parameters of links between nodes: `effective` returns them, as the
management node reads them from its config.ini.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ndblab.cluster import variables as running
from ndblab.comparing import installed, knobs, made
from ndblab.design.contrast import ALTERNATION, RESTARTS, SWITCHED
from ndblab.error import LabError
from ndblab.planning import config, setting_value

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.comparing.sides import Setting, Sides
    from ndblab.install import Binaries
    from ndblab.planning.deployment import Plan

OF_DATA_NODES = "ndbd default"
_ON_OFF = ("ON", "OFF")


def check(parsed: Sides, design: str, cluster: Cluster, variant: str) -> dict[str, object]:
    """Compare the settings that a newly started cluster shows with its side's; return them.

    Variables that are set on running servers are read back when they are set. LabError if a node
    has another value.
    """
    [side] = (side for side, name in made.VARIANTS.items() if name == variant)
    settings = parsed.both if design in (ALTERNATION, SWITCHED) else parsed.of(side)
    servers = cluster.plan.servers
    if design == RESTARTS:
        own = made.variant(parsed, side, design)
        servers = cluster.plan.servers_by(
            servers[0].transporter, own.connections, own.server_options
        )
    mine = {s.knob.name: s.value for s in settings if s.knob.file == knobs.MY_CNF}
    unlisted = {s.knob.name for s in settings if s.knob.source == knobs.UNLISTED}
    seen: dict[str, object] = {}
    for node in servers if mine else ():
        shown = running.shown(cluster, mine, node.number)
        # mysqld has options that are no variables; it would not run with one it does not know.
        visible = {name: v for name, v in mine.items() if name in shown or name not in unlisted}
        running.check(f"{node.name} of side {side.upper()}", visible, shown)
        seen |= shown
    ours = {s.knob.name: s.value for s in settings if s.knob.section == OF_DATA_NODES}
    # Choices and lists of threads are shown in a form of their own.
    plain = {n: value for n, value in ours.items() if isinstance(value, int) or value in _ON_OFF}
    for node_id, parameters in running.parameters_shown(cluster.query).items() if ours else ():
        running.check(f"data node {node_id} of side {side.upper()}", plain, parameters)
        seen |= {name: parameters.get(name, "not shown") for name in ours}
    return seen


def effective(
    binaries: Binaries, plan: Plan, settings: Iterable[Setting]
) -> dict[tuple[str, str], str]:
    """Return all values that the programs would take from a side's files; start nothing.

    LabError if the programs refuse a setting, or would take another value.

    Returns
    -------
    Values by section and name, as `Knob.key` has them.
    """
    settings = tuple(settings)
    # What is set on running servers is in no file of the plan.
    options: dict[str, object] = {}
    for setting in settings:
        if setting.knob.file == knobs.MY_CNF:
            options |= made.configured(setting)["mysqld"]
    my_cnf = config.my_cnf(plan, binaries.mysqld_version)
    variables = installed.read_variables(binaries, config.overlaid(my_cnf, {"mysqld": options}))
    # The value of log_bin is the name of the log.
    variables["log_bin"] = "ON" if variables.get("log_bin") else "OFF"
    config_ini = config.config_ini(plan, binaries.ndb_version)
    parameters = installed.read_parameters(binaries, config_ini)
    taken = {("mysqld", name): value for name, value in variables.items()}
    taken["", made.TLS] = "ON" if plan.tls else "OFF"
    for section, own in parameters.items():
        taken |= {(section, knobs.folded(name)): value for name, value in own.items()}
    for setting in settings:
        value = taken.get(setting.knob.key)
        if value is not None and not setting_value.same(value, setting.value):
            raise LabError(
                f"{setting.knob.name} would not be {setting.value}",
                found=f"the installed program would take {value or 'nothing'}",
                next_step="Choose a value within its range.",
            )
    return taken
