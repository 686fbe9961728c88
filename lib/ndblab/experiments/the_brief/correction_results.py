"""The arithmetic of corrections on published results; `correction_setup` has the others.

It recomputes published numbers from published numbers and measures nothing.
"""

from __future__ import annotations

import re

from ndblab.experiments.the_brief.correction_facts import Facts, Shown, numbers, percent, shows
from ndblab.formatting import significant
from ndblab.judging.publication import Correction

# Published ratios are rounded by less than this fraction.
ROUNDING = 0.01


@shows("range-63")
def _range_63(row: Correction, facts: Facts) -> Shown:
    [said] = (int(n) for n in re.findall(r"-(\d+) clients", row.says))
    points = sorted({a.clients for a in facts.anchors if a.figure == "4"})
    return said not in points and said + 1 in points, (
        f"{said} is no power of two; Figure 4 has points at {', '.join(map(str, points))}"
    )


@shows("constant")
def _constant(row: Correction, facts: Facts) -> Shown:
    floor, band = numbers(row.says)[0] * 1e6, facts.claims["F1-sustained"]
    return floor < band.low, (
        f"{significant(floor)} is {percent(1 - floor / band.low)} below the band of "
        f"{band.published}"
    )


@shows("over-1.7M")
def _over_17(row: Correction, facts: Facts) -> Shown:
    [top] = (anchor.value for anchor in facts.anchors if anchor.claim == "F1-max")
    mean = facts.low("F6-peak-qps")
    high = facts.claims["F1-sustained"].high
    return mean < numbers(row.says)[0] * 1e6 == high < top, (
        f"highest mean {significant(mean)} < end of the band {significant(high)} < "
        f"highest second {significant(top)}, {percent(top / high - 1, 1)} over it"
    )


@shows("fig5-idle")
def _fig5_idle(row: Correction, facts: Facts) -> Shown:
    screen = facts.threads("5").values()
    recv = [value for kind, value in screen if kind == "recv"]
    bound = numbers(row.says)[-1]
    busy = [value for kind, value in screen if kind != "recv"]
    return max(*recv, *busy) <= bound / 2 and min(busy) > 0, (
        f"all {len(screen)} threads on the screen are at {max(*recv, *busy):g} % or less, half of "
        f"{bound:g}; {len(busy)} besides recv are at {min(busy):g} to {max(busy):g} %, so not idle"
    )


@shows("fig5-clients")
def _fig5_clients(row: Correction, facts: Facts) -> Shown:
    [clients] = {a.clients for a in facts.anchors if a.figure == "5"}
    peak = facts.low("F4-peak-clients")
    return clients > peak, f"{clients} / {peak:g} = {clients / peak:g} times those of the peak"


@shows("p95-8-16")
def _p95_8_16(row: Correction, facts: Facts) -> Shown:
    first, second = facts.claims["F7-8-vs-16"], facts.claims["F7-8-vs-16-2048"]
    return first.source != second.source, (
        f"{first.source}: no significant difference of 8 and 16; {second.source}: 16 a bit worse"
    )


@shows("fig4-flat")
def _fig4_flat(row: Correction, facts: Facts) -> Shown:
    at_64, at_128 = facts.low("F4-cpu-64"), facts.low("F4-cpu-128")
    return at_128 > at_64 * 1.1, f"{at_128:g} % / {at_64:g} % = {at_128 / at_64:.2f}"


@shows("exponential")
def _exponential(row: Correction, facts: Facts) -> Shown:
    qps, first, last = facts.low("F4-peak-qps"), facts.low("F4-peak-clients"), 1024
    doublings = (last - first) / first
    return last / first < 2**doublings, (
        f"{first:g} to {last} clients at {significant(qps)} queries/s: {first / qps * 1e3:.2f} to "
        f"{last / qps * 1e3:.1f} ms, times {last / first:g}; twice with every {first:g} clients "
        f"would be times 2^{doublings:g}"
    )


@shows("fig1-latency")
def _fig1_latency(row: Correction, facts: Facts) -> Shown:
    p95_ms, millions, clients = numbers(row.says.replace("p95", ""))
    mean_ms = clients / (millions * 1e3)
    [said_ms, _, said_times] = numbers(row.but)
    times = p95_ms / mean_ms
    return abs(mean_ms - said_ms) < 0.005 and abs(times - said_times) < 0.05, (
        f"{clients:g} clients / {millions:g} million per second = {mean_ms:.2f} ms; "
        f"{p95_ms:g} / {mean_ms:.2f} = {times:.1f}"
    )


@shows("fig4-latency")
def _fig4_latency(row: Correction, facts: Facts) -> Shown:
    clients, qps = facts.low("F4-peak-clients"), facts.low("F4-peak-qps")
    bound_ms, mean_ms = float(facts.claims["F7-one"].high or 0), clients / qps * 1e3
    return mean_ms < bound_ms, (
        f"{clients:g} clients / {significant(qps)} per second = {mean_ms:.2f} ms, "
        f"{percent(mean_ms / bound_ms)} of {bound_ms:g} ms"
    )


@shows("dbt2-parts")
def _dbt2_parts(row: Correction, facts: Facts) -> Shown:
    whole, first, second = (1 + n / 100 for n in numbers(row.says))
    return abs(first * second - whole) > ROUNDING and whole == facts.low("D-2110"), (
        f"{first:g} x {second:g} = {first * second:.2g}, not {whole:g}; "
        f"{percent(first - 1)} + {percent(second - 1)} = {percent(first + second - 2)}"
    )


@shows("q20-percent")
def _q20_percent(row: Correction, facts: Facts) -> Shown:
    times, percent = numbers(row.says)
    before_s, after_ms = numbers(facts.claims["H-q20"].statement.split(":")[1])[:2]
    gain = 100 * (before_s * 1000 / after_ms - 1)
    return times == before_s * 1000 / after_ms and gain != percent, (
        f"{before_s:g} s / {after_ms:g} ms = {times:g}; {times:g} - 1 = {gain:g} %, not {percent:g}"
    )


@shows("zstd-ratio")
def _zstd_ratio(row: Correction, facts: Facts) -> Shown:
    [said] = numbers(row.says)
    before, after = (float(n) for n in re.findall(r"([\d.]+) GB", row.but))
    return abs(said / (before / after) - 1) > ROUNDING, (
        f"{before:g} GB / {after:g} GB = {before / after:.1f}, not {said:g}"
    )


@shows("shm-10-20")
def _shm(row: Correction, facts: Facts) -> Shown:
    top, gain = facts.claims["T-top"], facts.claims["T-shm-gain"]
    return top.low != gain.low, (
        f"{percent(top.low - 1)} ({top.source}, at the top) and "
        f"{percent(gain.low - 1)} ({gain.source})"
    )
