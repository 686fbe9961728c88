"""The answer of a comparison: as a sentence, as settings to paste, and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ndblab.comparing import choice, knobs, made
from ndblab.comparing.judged import EQUIVALENT, FASTER, SLOWER, UNDECIDED, WITHIN, Judged, outcome
from ndblab.formatting import count, listed, signed
from ndblab.planning import setting_value
from ndblab.statistics import recordings
from ndblab.statistics.estimate import Estimate

if TYPE_CHECKING:
    from ndblab.comparing.sides import Sides

SHOWN = 6
_TABLE_FULL = "returned error 1114 "
"""Part of sysbench's message when the data nodes' DataMemory is full."""


def sentence(result: Judged, within: float = WITHIN) -> str:
    """Say what was found, with the interval of each number, and what the measurement took."""
    parts = [headline(result, within)]
    if result.outcome in (FASTER, SLOWER):
        parts += [f"{another_day(result.throughput).capitalize()}."]
    parts += [_guard("p95", result.p95, within), _guard("CPU per query", result.cpu, within)]
    if result.worse and result.outcome == SLOWER:
        parts += [f"B is worse by {listed(result.worse)}, too."]
    elif result.worse:
        parts += [f"So B is worse by {listed(result.worse)}, whatever its throughput."]
    parts += [_errors(result), _disturbed(result), _took(result)]
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
    result: Judged, sides: Sides, design: str, within: float, dataset: str, go_on: str
) -> dict[str, object]:
    """Return the answer as plain data; ratios are B over A, null where nothing is known yet."""
    return {
        "outcome": result.outcome,
        "within": within,
        "a": [str(setting) for setting in sides.of("a")],
        "b": [str(setting) for setting in sides.of("b")],
        "design": design,
        "throughput": plain(result.throughput),
        "throughput_another_day": plain(recordings.another_day(result.throughput)),
        "p95": plain(result.p95),
        "cpu_per_query": plain(result.cpu),
        "loads_with_errors": dict(result.errors),
        "worse": list(result.worse),
        "qps": {side: round(value, 1) for side, value in result.qps.items()},
        "blocks": result.blocks,
        "minutes": round(result.minutes, 1),
        "cluster_starts": result.starts,
        "dataset": dataset,
        "go_on": go_on,
        "exit_status": result.status,
    }


def plain(ratio: Estimate) -> dict[str, float | None]:
    """Return a ratio with its interval as plain data."""
    return {name: known(number) for name, number in ratio._asdict().items()}


def known(number: float) -> float | None:
    """Return a number as plain data; None where it is not known, or infinite."""
    return round(number, 5) if math.isfinite(number) else None


def percent(ratio: float) -> str:
    """Write a ratio as a change in percent; no change has no sign.

    >>> percent(1.0412), percent(0.97), percent(1.0001)
    ('+4.1', '-3.0', '0.0')
    """
    value = round(100 * (ratio - 1), 1)
    return f"{value:+.1f}" if value else "0.0"


def headline(result: Judged, within: float = WITHIN) -> str:
    """Say how the throughput of B compares with that of A."""
    ratio = result.throughput
    if math.isnan(ratio.value):
        why = f": {result.void}" if result.void else ""
        if _TABLE_FULL in result.void:
            why = ", as the load filled the data nodes' memory: give both sides more, such as "
            why += "DataMemory=2G"
        return f"Undecided: there is no whole block yet{why}."
    if result.outcome == FASTER:
        return f"B is {_size(ratio)} faster ({_interval(ratio)})."
    if result.outcome == SLOWER:
        return f"B is {_size(ratio)} slower ({_interval(ratio)})."
    if result.outcome == EQUIVALENT:
        return f"B and A are equivalent within {100 * within:g} % ({_interval(ratio)})."
    if not ratio.bounded:
        return f"Undecided: B {percent(ratio.value)} %, without an interval yet."
    return f"Undecided: B {percent(ratio.value)} % ({_interval(ratio)})."


def another_day(ratio: Estimate, goal: str = "throughput") -> str:
    """Say in which range a change is expected on another day; empty where nothing is known of that.

    >>> another_day(Estimate(1.14, 1.09, 1.19))
    'on another day, expect -0.77 to +35 %'
    """
    expected = recordings.another_day(ratio, goal)
    if not expected.bounded:
        return ""
    return f"on another day, expect {signed(expected.low)} to {signed(expected.high)} %"


def _guard(name: str, ratio: Estimate, within: float) -> str:
    """Say how a quantity changed; less of it is better."""
    if not ratio.bounded:
        return ""
    words = {
        EQUIVALENT: "unchanged",
        FASTER: f"{_size(ratio)} more",
        SLOWER: f"{_size(ratio)} less",
        UNDECIDED: "open",
    }
    return f"{name} {words[outcome(ratio, within)]} ({_interval(ratio)})."


def _size(ratio: Estimate) -> str:
    return f"{abs(100 * (ratio.value - 1)):.1f} %"


def _took(result: Judged) -> str:
    """Say what the whole blocks took; before the first, the minutes of slices mean nothing."""
    if not result.blocks:
        return ""
    took = [count(round(result.minutes), "minute"), count(result.blocks, "block")]
    # The lab does not start a cluster that it is attached to.
    took += [count(result.starts, "cluster start")] if result.starts else []
    return f"{', '.join(took)}."


def _errors(result: Judged) -> str:
    if not any(result.errors.values()):
        return ""
    return f"Loads that ended with errors: {result.errors['a']} of A, {result.errors['b']} of B."


def _disturbed(result: Judged) -> str:
    if not result.disturbed:
        return ""
    are = "is" if result.disturbed == 1 else "are"
    return f"Others on the host disturbed {count(result.disturbed, 'slice')}, which {are} left out."


def _interval(ratio: Estimate) -> str:
    return f"{percent(ratio.low)} to {percent(ratio.high)} %"


def _changed(sides: Sides) -> dict[str, list[str]]:
    """Return the lines of B's files that A's do not have, by section."""
    lines: dict[str, list[str]] = {}
    for setting in sides.b:
        if setting.knob.file not in (knobs.CONFIG_INI, knobs.MY_CNF):
            continue
        for section, own in made.configured(setting).items():
            told = [f"# without {n}" if v is None else f"{n}={v}" for n, v in own.items()]
            # Only log_bin=OFF changes nothing of the lab's own my.cnf.
            lines.setdefault(section, []).extend(told or ["skip-log-bin"])
    return lines


def _statements(sides: Sides) -> list[str]:
    mine = [s for s in sides.b if s.knob.file == knobs.MY_CNF]
    mine = [s for s in mine if s.knob.change in knobs.WHILE_RUNNING]
    return [f"SET PERSIST {s.knob.name} = {_literal(s.value)};" for s in mine]


def _literal(value: int | str) -> str:
    if setting_value.numeral(str(value)) is not None or value in ("ON", "OFF"):
        return str(value)
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def said(sides: Sides) -> str:
    """Name the sides, a line each, and the first settings that both have or that were left out."""
    lines = [f"A: {sides.words('a')}", f"B: {sides.words('b')}"]
    for what, parts in (("both", sides.both), ("left out", sides.left_out)):
        shown = [str(part) for part in parts[:SHOWN]]
        shown += [f"{len(parts) - SHOWN} more"] if len(parts) > SHOWN else []
        lines += [f"{what}: {listed(shown)}"] if shown else []
    return "\n".join(lines)
