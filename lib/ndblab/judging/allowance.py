"""How much CPU each part of a cluster may use, and does use, on one side of a contrast.

The plan in a dataset's manifest says what each process may use; a variant may replace its quotas.
This module knows no claim, and judges nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from ndblab.error import MissingData
from ndblab.formatting import less_or_more, significant
from ndblab.judging.attached import NOT_DIVIDED_BY_US
from ndblab.judging.contrasted import A, B, place, side
from ndblab.judging.evidence import SQL_ROLES, Evidence
from ndblab.planning.cpu_budget import ATTACHED
from ndblab.statistics import sequential

SERVERS, SQL_SIDE = "the MySQL servers", "servers and sysbench"
DATA_NODES, HOST = "the data nodes", "the host"
"""Parts: the servers with clients; all servers and their clients; the data nodes; everything."""
QUOTA, CPUS = "quota", "CPUs"
"""What limits a part: bandwidth of CPUs that others use too, or CPUs of its own."""


@dataclass(frozen=True)
class Part:
    """What a part of a cluster may use, in logical CPUs, and by which limit; "" if by none."""

    name: str
    allowed: float
    limit: str
    share: float = float("nan")
    """What the part uses, as a share of `allowed`."""

    def __str__(self) -> str:
        if self.name == HOST:
            return f"the host's CPUs are {100 * self.share:.0f} % busy"
        of = f"their {self.limit}" if self.limit else "the host's CPUs"
        return f"{self.name} use {100 * self.share:.0f} % of {of}"


def limits(evidence: Evidence, contrast: str, name: str) -> dict[str, Part]:
    """Return what each part may use on a side of a contrast, measured or still to be measured.

    MissingData if the dataset has no such contrast, or it is not known how its CPUs are divided.
    """
    if evidence.budget == ATTACHED:
        raise MissingData(NOT_DIVIDED_BY_US)
    plan = evidence.dataset.manifest.get("plan", {})
    if "data_nodes" not in plan or "servers" not in plan:
        raise MissingData("its manifest does not say how CPUs are divided")
    changed = _changed(evidence, side(evidence, contrast, name)["variant"])
    sql = _limit(plan["sql_side"], changed, "sql")
    nodes = [_limit(node["share"], changed, "ndbmtd") for node in plan["data_nodes"]]
    servers = [
        _limit(server["share"], changed, "mysqld", f"mysqld.{server['number']}")
        for server in plan["servers"][: _servers(evidence, contrast, name)]
    ]
    host = evidence.cpus, ""
    allowed = {
        SERVERS: min(_together(servers), sql, key=itemgetter(0)),
        SQL_SIDE: sql,
        DATA_NODES: _together(nodes),
        HOST: host,
    }
    return {part: Part(part, *min(mine, host, key=itemgetter(0))) for part, mine in allowed.items()}


def parts(evidence: Evidence, contrast: str, name: str) -> dict[str, Part]:
    """Return what each part may use on a side of a contrast, and the mean use of its slices.

    MissingData as `limits`, or if there are fewer blocks than an interval needs.
    """
    known = limits(evidence, contrast, name)
    where = place(evidence, contrast, name)
    if where.runs["block"].nunique() < sequential.LOOKS[0]:
        raise MissingData(f"{contrast} has fewer than {sequential.LOOKS[0]} blocks")
    serving = _servers(evidence, contrast, name)
    used = {
        SERVERS: evidence.usage.of_serving(where.run_ids, serving).mean() / 100,
        SQL_SIDE: evidence.used_cpus(where.runs, SQL_ROLES).mean(),
        DATA_NODES: evidence.used_cpus(where.runs, ["ndbmtd"]).mean(),
        HOST: evidence.busy_pct(where.runs) / 100 * evidence.cpus,
    }
    for part, cpus in used.items():
        if not cpus >= 0:
            raise MissingData(f"what {part} used was not recorded")
    return {
        part: replace(known[part], share=cpus / known[part].allowed) for part, cpus in used.items()
    }


def _changed(evidence: Evidence, variant: str) -> Mapping[str, float | None]:
    """Return the quotas, in CPUs, that a variant gives processes in place of the plan's."""
    if evidence.budget != "scaled":
        return {}
    variants: Mapping[str, Any] = evidence.dataset.manifest.get("variants", {})
    quotas = variants.get(variant, {}).get("quotas", {})
    return {name: share and share * evidence.cpus for name, share in quotas.items()}


def _limit(
    share: Mapping[str, Any], changed: Mapping[str, float | None], *names: str
) -> tuple[float, str]:
    """Return the CPUs of a process and what limits it; the last of `names` takes precedence.

    A process without a limit has infinitely many CPUs.
    """
    quota = share.get("quota_cpus")
    for name in names:
        quota = changed.get(name, quota)
    if quota is not None:
        return float(quota), QUOTA
    return (float(len(share["cpus"])), CPUS) if share.get("cpus") else (float("inf"), "")


def _together(pairs: Iterable[tuple[float, str]]) -> tuple[float, str]:
    cpus, words = zip(*pairs, strict=True)
    return sum(cpus), words[0]


def _servers(evidence: Evidence, contrast: str, name: str) -> int:
    """Return how many servers have clients at once: in a duet those of both sides."""
    names = (A, B) if evidence.contrasts[contrast].get("design") == "duet" else (name,)
    return sum(int(side(evidence, contrast, side_name)["servers"]) for side_name in names)


def described(known: Mapping[str, Part]) -> str:
    """Write how quotas limit servers and data nodes: "the data nodes to 0.5 CPUs"."""
    limited = [known[name] for name in (SERVERS, DATA_NODES) if known[name].limit == QUOTA]
    return " and ".join(f"{part.name} to {significant(part.allowed)} CPUs" for part in limited)


def beyond(evidence: Evidence, contrast: str, part: str) -> str:
    """Explain by CPU per query why throughput does not follow the CPU of a part alone.

    The throughput ratio is the ratio of CPU used, divided by the ratio of CPU per query.
    """
    cpus, qps = [], []
    for name in (A, B):
        mine = parts(evidence, contrast, name)[part]
        cpus.append(mine.share * mine.allowed)
        qps.append(float(place(evidence, contrast, name).runs["qps"].mean()))
    used = cpus[0] / cpus[1]
    cost = less_or_more(used / (qps[0] / qps[1]), math.nan, math.nan)
    return f"{part} used {significant(used)} times as much CPU, {cost} per query"
