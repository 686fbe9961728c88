"""Conditions of claims: whether what a source gives as the cause is at work in a dataset.

A condition is named in `claims.csv`, and computed before any verdict. Conditions on CPU use are
here; others are in the experiments' `checks` modules. None looks at the effect that its claim is
about, so none can favour one outcome.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ndblab import discovery
from ndblab.error import MissingData
from ndblab.formatting import count, listed, significant
from ndblab.judging import allowance
from ndblab.judging.allowance import DATA_NODES, HOST, QUOTA, SERVERS, SQL_SIDE, Part
from ndblab.judging.contrasted import A, B, of_claim, place, side, sides
from ndblab.judging.evidence import HOST_FULL_PCT, SATURATED, Evidence
from ndblab.judging.publication import Claim
from ndblab.planning.cpu_budget import ATTACHED

NODES_FREE = 0.8
"""Data nodes below this share of their allowance do not equalise the sides that share them."""
MOST = {SERVERS: SATURATED, SQL_SIDE: SATURATED, DATA_NODES: NODES_FREE, HOST: HOST_FULL_PCT / 100}
"""Share at and above which a part limits what servers can do."""
FULL = {**MOST, DATA_NODES: SATURATED}
"""Share at and above which a part is used up."""
NEAR_PCT = 80
"""Percent of a CPU at and above which the brief calls a thread near saturation."""
IDLE_GROWTH = 1.5
"""If twice the clients raise throughput by more than this factor, what they load is mostly idle."""


@dataclass(frozen=True)
class State:
    """Whether a condition holds, its number in words, and what quotas force.

    `holds` is None if it cannot be known. `ratios` has, by contrast, the ratio that the quotas of
    `part` alone would give.
    """

    holds: bool | None
    words: str
    ratios: Mapping[str, float] = field(default_factory=dict)
    part: str = SERVERS

    def __post_init__(self) -> None:
        # Comparisons of arrays give booleans that are not `False` itself.
        if self.holds is not None:
            object.__setattr__(self, "holds", bool(self.holds))

    @property
    def forced(self) -> str:
        """Write what quotas alone give; empty if they force nothing."""
        ratios = dict.fromkeys(map(significant, self.ratios.values()))
        return f"the quotas alone give {listed(list(ratios))}" if ratios else ""


def demanded(holds: bool, words: str, wanted: str) -> State:
    """Return a state whose words say what is wanted where it does not hold."""
    return State(holds, words if holds else f"{words} ({wanted} wanted)")


Condition = Callable[[Claim, Evidence], State]
CONDITIONS: dict[str, Condition] = {}


def condition(name: str) -> Callable[[Condition], Condition]:
    """Make a function the condition of this name."""
    return discovery.named(CONDITIONS, name)


def of(claim: Claim, evidence: Callable[[], Evidence]) -> State:
    """Return the state of a claim's conditions: those that fail, else those that are unknown.

    If all hold, or there are none, the state has the numbers of all.
    """
    discovery.modules("checks")
    states = []
    for name in filter(None, claim.condition.split(", ")):
        try:
            states.append(CONDITIONS[name](claim, evidence()))
        except MissingData as missing:
            states.append(State(False if evidence().budget == ATTACHED else None, str(missing)))
    for wrong in (False, None):
        if found := [state for state in states if state.holds is wrong]:
            words = dict.fromkeys(state.words for state in found)
            return replace(found[0], words="; ".join(words))
    return State(True, listed([state.words for state in states]) if states else "")


@condition("undivided")
def undivided(claim: Claim, evidence: Evidence) -> State:
    """Require that no quota divides the CPUs on either side: its effect would be the result."""
    for contrast, name in _sides(claim, evidence):
        if held := allowance.described(allowance.limits(evidence, contrast, name)):
            return State(False, f"quotas limit {held} (no quotas wanted)")
    return State(True, f"no quota divides the {evidence.cpus:g} CPUs")


@condition("data-nodes-free")
def data_nodes_free(claim: Claim, evidence: Evidence) -> State:
    """Require that the data nodes, which both sides share, have CPU to spare."""
    return _free(claim, evidence, {DATA_NODES: NODES_FREE})


@condition("servers-free")
def servers_free(claim: Claim, evidence: Evidence) -> State:
    """Require that no quota, no data node and no lack of host CPUs limits the servers."""
    return _free(claim, evidence, MOST)


@condition("cpus-free")
def cpus_free(claim: Claim, evidence: Evidence) -> State:
    """Require that no quota or CPUs run out first; the claim itself is about NDB threads."""
    return _free(claim, evidence, MOST, threads=False)


@condition("room-for-servers")
def room_for_servers(claim: Claim, evidence: Evidence) -> State:
    """Require that the side with fewer servers leaves CPUs that more servers could use."""
    return _free(claim, evidence, MOST, only=B)


@condition("saturated")
def saturated(claim: Claim, evidence: Evidence) -> State:
    """Require that, on both sides, CPUs or an NDB thread are used up, and no quota before them."""
    return _ended(claim, evidence, (A, B), "saturated")


@condition("cpus-end")
def cpus_end(claim: Claim, evidence: Evidence) -> State:
    """Require that CPUs or NDB threads run out with more servers, and no quota before them."""
    return _ended(claim, evidence, (A,), "what runs out")


@condition("loaded")
def loaded(claim: Claim, evidence: Evidence) -> State:
    """Require enough clients to keep something busy: twice as many do less than twice the work."""
    words = []
    for parts, contrast, name in _parts(claim, evidence):
        full, text, _ = _fullest(parts, evidence, contrast, name)
        if full < 1:
            growth, text = _growth(evidence, contrast, name)
            if growth > IDLE_GROWTH:
                return State(False, f"{text} ({IDLE_GROWTH:g} times or less wanted)")
        words.append(text)
    return State(True, listed(list(dict.fromkeys(words))[:1]))


def _ended(claim: Claim, evidence: Evidence, looked: tuple[str, ...], how: str) -> State:
    """Return whether these sides use up CPUs or NDB threads, and no side uses up a quota.

    A quota throttles processes, which is not how the source's system reaches its limit.
    """
    ended = []
    for parts, contrast, name in _parts(claim, evidence):
        by_quota = [p for p in parts if p.limit == QUOTA and p.share >= FULL[p.name]]
        if by_quota:
            words = f"a quota runs out first: {by_quota[0]}"
            return State(False, words, _forced(claim, evidence))
        if name in looked:
            free = [part for part in parts if part.limit != QUOTA]
            ended.append(_fullest(free, evidence, contrast, name))
    full, words, wanted = min(ended)
    wanted = f"{100 * wanted:.0f} % or more wanted"
    return State(full >= 1, f"{how}: {words}" if full >= 1 else f"{words} ({wanted})")


def _growth(evidence: Evidence, contrast: str, name: str) -> tuple[float, str]:
    """Return the sweep's throughput growth for twice the clients near a side, also in words.

    For more clients than the sweep has, its end counts: what fewer clients load, more do too.
    Raises MissingData if the sweep has no such runs, or if quotas limit the sweep and not the side:
    fewer clients use up a quota than use up the host.
    """
    where = place(evidence, contrast, name)
    if evidence.budget == "scaled" and not allowance.limits(evidence, contrast, name):
        raise MissingData("the sweep was measured under CPU quotas, these clients were not")
    counts = evidence.clients(where.servers)
    nearest = min(where.clients, max(counts, default=0))
    pairs = [(a, b) for a, b in itertools.pairwise(counts) if nearest in (a, b)]
    if not pairs:
        raise MissingData(f"the sweep has no run {where.words} and one with more or fewer clients")
    few, many = pairs[-1]
    ratio = (
        evidence.values(where.servers, many, "qps").mean()
        / evidence.values(where.servers, few, "qps").mean()
    )
    growth = float(ratio ** (math.log(2) / math.log(many / few)))
    return growth, f"{few} to {many} clients of {count(where.servers, 'server')} do " + (
        f"{significant(growth)} times the queries for each doubling"
    )


def _fullest(
    among: list[Part], evidence: Evidence, contrast: str, name: str
) -> tuple[float, str, float]:
    """Return how full a side's fullest part or thread is (1 or more is full), and its use in words.

    Last is the share at and above which it is full.
    """
    most = max(among, key=_fullness)
    parts = [(_fullness(most), str(most), FULL[most.name])]
    with contextlib.suppress(MissingData):
        pct = _busiest_thread(evidence, contrast, name)
        parts.append((pct / (100 * SATURATED), _of_thread(pct), SATURATED))
    return max(parts)


def _busiest_thread(evidence: Evidence, contrast: str, name: str) -> float:
    """Return the percentage of a CPU that the busiest NDB thread uses, mean of slices."""
    threads = place(evidence, contrast, name).threads
    return float(threads.groupby("run_id")["pct"].max().mean())


def _of_thread(pct: float) -> str:
    return f"the busiest NDB thread uses {significant(pct)} % of a CPU"


def _free(
    claim: Claim, evidence: Evidence, most: dict[str, float], only: str = "", threads: bool = True
) -> State:
    """Return whether these parts use less than a share of what they may, wherever a claim looks.

    With `threads`, no NDB thread may be near saturation either: it reaches its limit before all
    CPUs of its node do.
    """
    used: list[Part] = []
    unknown: MissingData | None = None
    for where in _sides(claim, evidence):
        try:
            used += allowance.parts(evidence, *where).values() if only in ("", where[1]) else []
        except MissingData as missing:
            unknown = missing  # Another contrast may show that the condition fails.
    # Servers without a limit may take what others leave: only the host's CPUs can run out.
    used = [p for p in used if p.name in most and (p.limit or p.name in (DATA_NODES, HOST))]
    for name, limit in most.items():
        fullest = max((p for p in used if p.name == name), key=lambda p: p.share, default=None)
        if fullest and fullest.share >= limit:
            forced = {} if unknown else _forced(claim, evidence)
            # What quotas force says enough: a source may have had servers out of CPU, too.
            wanted = "" if forced else f" (below {100 * limit:.0f} % wanted)"
            return State(False, f"{fullest}{wanted}", forced)
    if unknown or not used:
        raise unknown or MissingData("it has no contrast of fewer servers with more")
    looked = [where for where in _sides(claim, evidence) if threads and only in ("", where[1])]
    with contextlib.suppress(MissingData):
        pct = max((_busiest_thread(evidence, *where) for where in looked), default=0.0)
        if pct >= NEAR_PCT:
            return State(False, f"{_of_thread(pct)} (below {NEAR_PCT} % wanted)")
    fullest = max(used, key=lambda part: part.share / most[part.name])
    return State(True, f"{fullest} at most")


def _forced(claim: Claim, evidence: Evidence) -> dict[str, float]:
    """Return the ratio that quotas alone would give each contrast.

    Empty unless all sides use up unequal quotas. In a closed loop, p95 grows with the clients and
    falls as quotas rise.
    """
    ratios = {}
    for contrast in of_claim(evidence, claim):
        if sides(evidence, contrast) != [A, B]:
            return {}
        top, base = (allowance.parts(evidence, contrast, name)[SERVERS] for name in (A, B))
        ratio = top.allowed / base.allowed
        used_up = QUOTA in (top.limit, base.limit) and min(top.share, base.share) >= SATURATED
        if not used_up or abs(ratio - 1) < 1e-9:
            return {}
        if claim.metric.startswith("p95"):
            clients = [float(side(evidence, contrast, name)["clients"]) for name in (A, B)]
            ratio = clients[0] / clients[1] / ratio
        elif not claim.metric.startswith("qps"):
            return {}
        ratios[contrast] = ratio
    return ratios


def _sides(claim: Claim, evidence: Evidence) -> Iterator[tuple[str, str]]:
    for contrast in of_claim(evidence, claim):
        yield from ((contrast, name) for name in sides(evidence, contrast))


def _parts(claim: Claim, evidence: Evidence) -> list[tuple[list[Part], str, str]]:
    """Return, for each side of a claim's contrasts, its parts, the contrast and the side."""
    return [
        (list(allowance.parts(evidence, contrast, name).values()), contrast, name)
        for contrast, name in _sides(claim, evidence)
    ]


def _fullness(part: Part) -> float:
    return part.share / FULL[part.name] if part.limit or part.name == HOST else 0.0
