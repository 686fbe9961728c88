"""The experiment that compares two sides, made on the fly."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ndblab.comparing import knobs
from ndblab.comparing.choice import Choice
from ndblab.comparing.sides import Setting, Sides
from ndblab.design import contrast as designs
from ndblab.design.contrast import ALTERNATION, RESTARTS, SWITCHED, TWINS, Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.design.variant import NO_QUOTAS, Variant
from ndblab.error import LabError
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.planning.setting_value import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from ndblab.cluster.cluster import Cluster
    from ndblab.planning.profile import Profile

NAME, CONTRAST, THROUGHPUT = "compare", "compare", "throughput"
B_VARIANT = "b"
VARIANTS = {designs.A: DEFAULT_VARIANT, designs.B: B_VARIANT}
"""The variants of the sides: A is what the lab would start."""
CLIENTS_PER_CPU = 8
"""Clients per CPU of the host, by default: enough to saturate a server and its data nodes.
The recorded sweeps of one server on 2 CPUs peak at 1 to 16 clients."""
POOL, TLS = "ndb_cluster_connection_pool", "tls"
LONGEST_MS = 50.0
"""p95 up to which clients take turns of a second: that much of a turn spills into the next one."""
_DATA_NODES = 2
_ONE_CLUSTER = (ALTERNATION, SWITCHED)
_NATIVE_AIO_SERVERS = 28
"""MySQL servers that can use InnoDB's native AIO at once: each takes 2305 of the 65 536 requests
that Linux allows by default (fs.aio-max-nr), and a server that gets none does not start."""


@dataclass(frozen=True)
class Load:
    """The load of both sides, unless a side says otherwise."""

    workload: str
    servers: int
    clients: int


def load(
    sides: Sides, workload: str, servers: int, clients: int | None, usable_cpus: float
) -> Load:
    """Return the load of both sides; `clients` are None for as many as host and servers need.

    LabError if a side has fewer clients than servers, some of which would be idle, or TLS for links
    that do not use it.
    """
    usual = max(
        round(CLIENTS_PER_CPU * usable_cpus),
        *(int(sides.value(side, "servers") or servers) for side in VARIANTS),
    )
    asked = Load(workload, servers, usual if clients is None else clients)
    for side in VARIANTS:
        _refuse_idle_tls(sides, side)
        at = point(sides, side, asked)
        if at.clients < at.servers:
            raise LabError(
                f"Side {side.upper()} has fewer clients than MySQL servers",
                found=f"{at.clients} clients, {at.servers} servers",
                expected="a client for each server at least",
                next_step="Use more --clients, or fewer servers.",
            )
    return asked


def _refuse_idle_tls(sides: Sides, side: str) -> None:
    """Refuse TLS on shared-memory links, which it does not encrypt (`cluster.keys`)."""
    if sides.value(side, TLS) == "ON" and sides.value(side, "UseShm") != "OFF":
        # A search has one baseline, not two sides that differ.
        searched = not sides.differing
        over_tcp = "tune UseShm=off tls=on" if searched else "compare UseShm=off tls=off tls=on"
        raise LabError(
            f"TLS changes nothing {'here' if searched else f'on side {side.upper()}'}",
            found="nodes that are linked by shared memory, which it does not encrypt",
            expected="links over TCP",
            next_step=f"{'Search' if searched else 'Compare'}: ./lab {over_tcp}",
        )


def experiment(
    sides: Sides,
    choice: Choice,
    load: Load,
    after_start: Callable[[Cluster, str], Mapping[str, object]] | None = None,
) -> Experiment:
    """Return the experiment: a run of A (and of B, in one cluster), then blocks of a contrast."""
    points = {side: point(sides, side, load) for side in VARIANTS}
    variants = tuple(variant(sides, side, choice.design) for side in VARIANTS)
    if choice.design == TWINS:
        most = max(at.servers for at in points.values())
        variants = tuple(of_twins(own, 2 * most) for own in variants)
    swept = tuple(points.values()) if choice.design in _ONE_CLUSTER else (points[designs.A],)
    contrast = Contrast(
        CONTRAST, choice.design, *(Side(at) for at in points.values()), (THROUGHPUT,),
        one_start=True, turns=choice.turns, pause_s=choice.pause_s,
    )  # fmt: skip

    def compared(
        made: Experiment, size: Profile, measured: pd.DataFrame | None
    ) -> tuple[Contrast, ...]:
        return (replace(contrast, turns=False, pause_s=0) if _too_long(measured) else contrast,)

    return Experiment(
        NAME,
        f"How does B ({sides.words('b')}) compare with A ({sides.words('a')})?",
        notebook="",
        figures=(),
        claims=(),
        grid=lambda made, size: swept,
        workload=load.workload,
        sizes={"quick": {"repeats": 1}},
        variants=variants,
        shape=servers_of(sides) if choice.design == RESTARTS else {},
        budget="scaled" if _splits(sides) else "shared",
        contrasts=compared,
        after_start=after_start,
        asked={**asked(sides), "contrast": contrast.to_dict()},
    )


def _too_long(measured: pd.DataFrame | None) -> bool:
    """Return whether the queries of the first runs last too long for turns of a second."""
    if measured is None or measured.empty:
        return False
    return bool((measured["latency_p95_ms_mean"] > LONGEST_MS).any())


def asked(sides: Sides) -> dict[str, object]:
    """Return both sides as plain data, with the knobs that only the installed programs know."""
    settings = {str(setting): setting for side in VARIANTS for setting in sides.of(side)}
    unlisted = {
        word: asdict(setting.knob)
        for word, setting in settings.items()
        if setting.knob.source == knobs.UNLISTED
    }
    words = {side: [str(setting) for setting in sides.of(side)] for side in VARIANTS}
    return words | ({"unlisted": unlisted} if unlisted else {})


def sides_of(known: Mapping[str, Any]) -> Sides:
    """Return the sides of a manifest's entry `asked`."""
    others = [knobs.Knob(**one) for one in known.get("unlisted", {}).values()]

    def setting(word: str) -> Setting:
        name, _, text = word.partition("=")
        knob = knobs.find(name, others)
        return Setting(knob, knobs.value(knob, text))

    a, b = ([setting(word) for word in known[side]] for side in VARIANTS)
    both = tuple(s for s in a if s in b)
    return Sides(
        tuple(s for s in a if s not in both),
        tuple(s for s in b if s not in both),
        both,
    )


def point(sides: Sides, side: str, load: Load) -> Point:
    """Return the point at which a side is measured."""
    return Point(
        int(sides.value(side, "servers") or load.servers),
        int(sides.value(side, "clients") or load.clients),
        transporter="tcp" if sides.value(side, "UseShm") == "OFF" else "shm",
        workload=load.workload,
        variant=VARIANTS[side],
    )


def variant(sides: Sides, side: str, design: str) -> Variant:
    """Return the settings of a side.

    In a design with one cluster, variables that can change while it runs are set at run time; if
    each side has a cluster of its own, they are in its my.cnf. If each side has servers of its own,
    they are in those servers' part of my.cnf.
    """
    made = Variant(
        VARIANTS[side],
        second_engine=side == designs.B and any(k.name == "engine" for k in sides.differing),
        quotas=_quotas(sides, side) if _splits(sides) else {},
        table_options=_table_options(sides.of(side)),
    )
    if design == RESTARTS:
        made = replace(made, **_kind(sides, side))
    own = sides.own(side)
    for setting in sides.of(side):
        if design == RESTARTS and setting in own:
            continue
        if design in _ONE_CLUSTER and setting in own and setting.knob.file == knobs.MY_CNF:
            made = replace(made, set_global={**made.set_global, setting.knob.name: setting.value})
        else:
            made = _with(made, setting)
    return made


def of_twins(variant: Variant, servers: int) -> Variant:
    """Return a variant for one of several clusters with at most so many MySQL servers in all.

    Where these are more than can use InnoDB's native AIO, none does, unless the variant says
    otherwise.
    """
    if servers <= _NATIVE_AIO_SERVERS:
        return variant
    return replace(variant, my_cnf={"innodb_use_native_aio": 0, **variant.my_cnf})


def configured(setting: Setting) -> dict[str, dict[str, object]]:
    """Return what a setting changes in config.ini or my.cnf, by section; None removes a line."""
    knob, value = setting.knob, setting.value
    if knob.file == knobs.CONFIG_INI:
        plain = {"ON": 1, "OFF": 0}.get(str(value), value)
        own: dict[str, object] = {knob.name: plain}
        # Either of these rules out the other.
        if knob.name == "ThreadConfig":
            own |= {"AutomaticThreadConfig": None, "NumCPUs": None}
        # 0 is NDB's default, with which the lab's own threads stay.
        elif knob.name == "NumCPUs" and value:
            own |= {"AutomaticThreadConfig": 1, "ThreadConfig": None}
        return {knob.section: own}
    if knob.name == "log_bin":
        # Its value is the name of the log; the lab's my.cnf has it off.
        on = {"skip-log-bin": None, "log-bin": "binlog"}
        return {"mysqld": on if value == "ON" else {}}
    text = value if isinstance(value, int) else quoted(value)
    return {"mysqld": {knob.name: text}}


def _with(made: Variant, setting: Setting) -> Variant:
    """Return a variant with one more setting of its cluster."""
    knob, value = setting.knob, setting.value
    if knob.name == TLS:
        return replace(made, shape={**made.shape, "tls": value == "ON"})
    if knob.file in (knobs.LAB, knobs.TABLE):
        return made
    if knob.name == "UseShm":
        kind = "tcp" if value == "OFF" else "shm"
        return replace(made, shape={**made.shape, "transporter": kind})
    if knob.name == POOL:
        return replace(made, shape={**made.shape, "connection_pools": (int(value),)})
    config_ini = {section: dict(own) for section, own in made.config_ini.items()}
    my_cnf = dict(made.my_cnf)
    for section, own in configured(setting).items():
        if knob.file == knobs.MY_CNF:
            my_cnf |= own
        else:
            config_ini.setdefault(section, {}).update(own)
    return replace(made, config_ini=config_ini, my_cnf=my_cnf)


def _kind(sides: Sides, side: str) -> dict[str, object]:
    """Return what marks a side's servers in a shared cluster: their options and their pool."""
    options = {}
    for setting in sides.own(side):
        if setting.knob.file == knobs.MY_CNF and setting.knob.name != POOL:
            options |= configured(setting)["mysqld"]
    pools = any(knob.name == POOL for knob in sides.differing)
    connections = int(sides.value(side, POOL) or 1) if pools else 0
    return {"server_options": options, "connections": connections}


def servers_of(sides: Sides) -> dict[str, object]:
    """Return the servers of a cluster in which each side has its own."""
    kinds = [_kind(sides, side) for side in VARIANTS]
    shape: dict[str, object] = {"server_options": tuple(kind["server_options"] for kind in kinds)}
    if kinds[0]["connections"]:
        shape["connection_pools"] = tuple(kind["connections"] for kind in kinds)
    return shape


def _splits(sides: Sides) -> bool:
    """Return whether a side limits CPUs; otherwise every process may use all of them."""
    return any(sides.value(side, name) is not None for side in VARIANTS for name in knobs.QUOTAS)


def _quotas(sides: Sides, side: str) -> dict[str, float | None]:
    percents = [sides.value(side, name) for name in knobs.QUOTAS]
    if percents == [None, None]:
        return dict(NO_QUOTAS)
    nodes, server = (None if percent is None else int(percent) / 100 for percent in percents)
    return {"ndbmtd": nodes and nodes / _DATA_NODES, "mysqld": server, "sql": nodes and 1 - nodes}


def _table_options(settings: tuple[Setting, ...]) -> str:
    words = [str(setting) for setting in settings if setting.knob.file == knobs.TABLE]
    return f"COMMENT='NDB_TABLE={','.join(words)}'" if words else ""
