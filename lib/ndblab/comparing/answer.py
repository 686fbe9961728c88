"""The answer of a comparison: as a sentence, as settings to paste, and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ndblab.comparing import choice, knobs, made
from ndblab.comparing.judged import EQUIVALENT, FASTER, SLOWER, WITHIN, Judged
from ndblab.formatting import count, listed
from ndblab.planning import setting_value
from ndblab.statistics.estimate import Estimate

if TYPE_CHECKING:
    from ndblab.comparing.sides import Sides

SHOWN = 6
_TABLE_FULL = "returned error 1114 "
"""Part of sysbench's message when the data nodes' DataMemory is full."""


def sentence(found: Judged, within: float = WITHIN) -> str:
    """Say what was found, with the interval of each number, and what the measurement took."""
    parts = [headline(found, within)]
    parts += [_guard("p95", found.p95, within), _guard("CPU a query", found.cpu, within)]
    if found.worse and found.outcome == SLOWER:
        parts += [f"B is worse by {listed(found.worse)}, too."]
    elif found.worse:
        parts += [f"So B is worse by {listed(found.worse)}, whatever its throughput."]
    parts += [_errors(found), _disturbed(found), _took(found)]
    return " ".join(filter(None, parts))


def to_paste(sides: Sides) -> str:
    """Write how to turn A into B: lines of files or statements, and what must be restarted."""
    lines = ["To make B of A:"]
    for section, own in _changed(sides).items():
        file = "my.cnf" if section == "mysqld" else "config.ini"
        lines.append(f"  {file}  [{section}]")
        lines += [f"    {line}" for line in own]
    if statements := _statements(sides):
        lines.append("  or at once, without a restart, on each MySQL server:")
        lines += [f"    {statement}" for statement in statements]
    for setting in sides.b:
        if setting.knob.file == knobs.TABLE:
            lines.append(f"  each table: ALTER TABLE ... COMMENT='NDB_TABLE={setting}'")
        elif setting.knob.name == "tls" and setting.value == "ON":
            lines.append("  every node: a key signed by ndb_sign_keys")
        elif setting.knob.file == knobs.LAB:
            lines.append(f"  {setting}")
    reset = {s.knob.key: s for s in sides.a if s.knob.key not in {t.knob.key for t in sides.b}}
    lines += [f"  without {setting}" for setting in reset.values()]
    return "\n".join([*lines, f"  For it, {choice.restarts(sides)}."])


def to_json(
    found: Judged, sides: Sides, design: str, within: float, dataset: str, go_on: str
) -> dict[str, object]:
    """Return the answer as plain data; ratios are B over A, null where nothing is known yet."""
    return {
        "outcome": found.outcome,
        "within": within,
        "a": [str(setting) for setting in sides.of("a")],
        "b": [str(setting) for setting in sides.of("b")],
        "design": design,
        "throughput": _plain(found.throughput),
        "p95": _plain(found.p95),
        "cpu_per_query": _plain(found.cpu),
        "slices_with_errors": dict(found.errors),
        "worse": list(found.worse),
        "qps": {side: round(value, 1) for side, value in found.qps.items()},
        "blocks": found.blocks,
        "minutes": round(found.minutes, 1),
        "cluster_starts": found.starts,
        "dataset": dataset,
        "go_on": go_on,
        "exit_status": found.status,
    }


def percent(ratio: float) -> str:
    """Write a ratio as a change in percent; no change has no sign.

    >>> percent(1.0412), percent(0.97), percent(1.0001)
    ('+4.1', '-3.0', '0.0')
    """
    value = round(100 * (ratio - 1), 1)
    return f"{value:+.1f}" if value else "0.0"


def headline(found: Judged, within: float = WITHIN) -> str:
    """Say how the throughput of B compares with that of A."""
    ratio = found.throughput
    if math.isnan(ratio.value):
        why = f": {found.void}" if found.void else ""
        if _TABLE_FULL in found.void:
            why = ", as the load filled the data nodes' memory: give both sides more, such as "
            why += "DataMemory=2G"
        return f"Undecided: there is no whole block yet{why}."
    size = f"{abs(100 * (ratio.value - 1)):.1f} %"
    if found.outcome == FASTER:
        return f"B is {size} faster ({_interval(ratio)})."
    if found.outcome == SLOWER:
        return f"B is {size} slower ({_interval(ratio)})."
    if found.outcome == EQUIVALENT:
        return f"B and A are equivalent within {100 * within:g} % ({_interval(ratio)})."
    if not ratio.bounded:
        return f"Undecided: B {percent(ratio.value)} %, without an interval yet."
    return f"Undecided: B {percent(ratio.value)} % ({_interval(ratio)})."


def _guard(name: str, ratio: Estimate, within: float) -> str:
    """Say how a quantity changed; less of it is better."""
    if not ratio.bounded:
        return ""
    if 1 - within <= ratio.low and ratio.high <= 1 + within:
        return f"{name} unchanged ({_interval(ratio)})."
    if ratio.low > 1 or ratio.high < 1:
        word = "more" if ratio.low > 1 else "less"
        return f"{name} {abs(100 * (ratio.value - 1)):.1f} % {word} ({_interval(ratio)})."
    return f"{name} open ({_interval(ratio)})."


def _took(found: Judged) -> str:
    """Say what the whole blocks took; before the first, the minutes of slices mean nothing."""
    if not found.blocks:
        return ""
    took = [count(round(found.minutes), "minute"), count(found.blocks, "block")]
    # The lab does not start a cluster that it is attached to.
    took += [count(found.starts, "cluster start")] if found.starts else []
    return f"{', '.join(took)}."


def _errors(found: Judged) -> str:
    if not any(found.errors.values()):
        return ""
    return f"Slices left out for errors: {found.errors['a']} of A, {found.errors['b']} of B."


def _disturbed(found: Judged) -> str:
    if not found.disturbed:
        return ""
    are = "is" if found.disturbed == 1 else "are"
    return f"Others on the host disturbed {count(found.disturbed, 'slice')}, which {are} left out."


def _interval(ratio: Estimate) -> str:
    return f"{percent(ratio.low)} to {percent(ratio.high)} %"


def _changed(sides: Sides) -> dict[str, list[str]]:
    """Return the lines of B's files that A's do not have, by section."""
    found: dict[str, list[str]] = {}
    for setting in sides.b:
        if setting.knob.file not in (knobs.CONFIG_INI, knobs.MY_CNF):
            continue
        for section, own in made.configured(setting).items():
            found.setdefault(section, []).extend(
                f"# without {name}" if value is None else f"{name}={value}"
                for name, value in own.items()
            )
    return found


def _statements(sides: Sides) -> list[str]:
    at_once = (knobs.LIVE, knobs.SESSION)
    mine = [s for s in sides.b if s.knob.file == knobs.MY_CNF and s.knob.change in at_once]
    return [f"SET PERSIST {s.knob.name} = {_literal(s.value)};" for s in mine]


def _literal(value: int | str) -> str:
    if setting_value.numeral(str(value)) is not None or value in ("ON", "OFF"):
        return str(value)
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def _plain(ratio: Estimate) -> dict[str, float | None]:
    names = ("value", "low", "high")
    return {
        name: None if math.isnan(part) else round(part, 5)
        for name, part in zip(names, ratio, strict=True)
    }


def said(sides: Sides) -> str:
    """Name the sides, a line each, and the first settings that both have or that were left out."""
    lines = [f"A: {sides.words('a')}", f"B: {sides.words('b')}"]
    for what, parts in (("both", sides.both), ("left out", sides.left_out)):
        shown = [str(part) for part in parts[:SHOWN]]
        shown += [f"{len(parts) - SHOWN} more"] if len(parts) > SHOWN else []
        lines += [f"{what}: {listed(shown)}"] if shown else []
    return "\n".join(lines)
