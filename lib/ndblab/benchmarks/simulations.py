"""Simulations of the intervals that the lab prints, with the variances of the recorded datasets.

`coverage` lists the intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy.signal import lfilter

from ndblab.experiments.stability import checkpoint_cost as cost
from ndblab.experiments.stability.checkpoints import Span, cycles, inside
from ndblab.statistics import blocks, estimate, sequential, series
from ndblab.statistics import recordings as random_effects
from ndblab.statistics.estimate import Estimate, sidak

# multi-server-scaling: 40 points of 4 runs; the standard deviation of logarithms of throughput and
# p95 is 0.09, differs between points like a chi-squared variance with 5 degrees of freedom, and a
# repeat moves all points by some 5 %. CPU per query: 0.15.
DEVIATION, BLOCK, DIFFERS, PER_QUERY = 0.09, 0.05, 5, 0.15
SERVERS, POINTS, REPEATS = 5, 8, 4
# stability: logarithms of one-second throughput deviate by 0.17. Their autocorrelation is that of
# white noise and of three first-order processes with these memories (s) and shares of the variance.
SECOND = 0.17
MEMORIES = ((0, 0.22), (2.5, 0.22), (15, 0.33), (240, 0.23))
# shm-vs-tcp: 5 numbers of clients, 6 pairs each.
PAIRED, PAIRS = 5, 6
SLICE_S, OVERHEAD_S, SLICES = 5, 1, 4
NEAR = 0.03

Held = list[list[bool]]
"""One row per independent draw, one value per interval in it."""
Simulation = Callable[[np.random.Generator], Held]


def _each(draws: int, held: Callable[[np.random.Generator], bool]) -> Simulation:
    """Simulate so many intervals, each drawn independently."""
    return lambda rng: [[held(rng)] for _ in range(draws)]


def seconds(rng: np.random.Generator, length: int) -> np.ndarray:
    """Draw standard normal values, one a second, with the autocorrelation of the recorded hour."""
    total = np.zeros(length)
    for memory_s, share in MEMORIES:
        noise = rng.standard_normal(length)
        if memory_s:
            kept = np.exp(-1 / memory_s)
            noise[1:] *= np.sqrt(1 - kept**2)
            noise = lfilter([1], [1, -kept], noise)
        total += np.sqrt(share) * noise
    return total


def of_runs(
    interval: Callable[[np.ndarray], Estimate],
    draw: Callable[[np.random.Generator], np.ndarray],
    truth: float,
    draws: int = 6000,
) -> Simulation:
    """Simulate an interval from the values of a few runs."""
    return _each(draws, lambda rng: _holds(interval(draw(rng)), truth))


def lognormal(runs: int, deviation: float) -> Callable[[np.random.Generator], np.ndarray]:
    """Draw runs around a mean of 1."""
    return lambda rng: np.exp(rng.normal(-(deviation**2) / 2, deviation, runs))


def p95(rng: np.random.Generator) -> np.ndarray:
    """Draw runs of p95 as sysbench's histogram gives it."""
    step = np.log(1.018)
    return np.exp(np.round(np.log(lognormal(REPEATS, DEVIATION)(rng)) / step) * step)


def _sweeps(
    rng: np.random.Generator, draws: int
) -> Iterator[tuple[list[np.ndarray], estimate.Variability]]:
    """Draw sweeps whose points have a true throughput of 1: adjusted values, and how they vary."""
    keys = [(n, c) for n in range(SERVERS) for c in range(POINTS)]
    rows = [(n, c, repeat) for n, c in keys for repeat in range(REPEATS)]
    table = pd.DataFrame(rows, columns=["servers", "clients", "repeat"])
    for _ in range(draws):
        deviations = DEVIATION * np.sqrt(DIFFERS / rng.chisquare(DIFFERS, (len(keys), 1)))
        logs = deviations * rng.standard_normal((len(keys), REPEATS))
        logs += rng.normal(0, BLOCK, REPEATS)
        runs = table.assign(qps=np.exp(logs.ravel()))
        adjusted = blocks.block_adjusted(runs, "qps").to_numpy()
        yield list(adjusted.reshape(len(keys), REPEATS)), blocks.variability(runs, "qps")


def ratios(rng: np.random.Generator) -> Held:
    """Simulate ratios of two points of a sweep."""
    return [
        [
            _holds(estimate.ratio(a, b, pooled=pooled), 1.0)
            for a, b in zip(values[::2], values[1::2], strict=True)
        ]
        for values, pooled in _sweeps(rng, 300)
    ]


def peaks(rng: np.random.Generator) -> Held:
    """Simulate ratios of the peaks of two numbers of servers."""
    # Half of the points are as good as the best, as in the recorded curves.
    curve = np.array([0.2, 0.4, 0.7, 0.9, 1.0, 1.0, 1.0, 1.0])
    held = []
    for values, pooled in _sweeps(rng, 800):
        points = np.array(values).reshape(SERVERS, POINTS, REPEATS) * curve[:, None]
        intervals = [estimate.peak_ratio(points[n], points[n + 1], pooled) for n in (0, 2)]
        held.append([_holds(interval, 1.0) for interval in intervals])
    return held


def no_loss(rng: np.random.Generator) -> Held:
    """Simulate whether a flat curve is rightly not called a loss past its best point.

    Where the last point is best, nothing was measured past it, and nothing is called a loss.
    """
    held = []
    for values, pooled in _sweeps(rng, 600):
        row = []
        for n in range(SERVERS):
            points = values[n * POINTS : (n + 1) * POINTS]
            best = int(np.argmax([runs.mean() for runs in points]))
            beyond = points[best + 1 : best + 2]
            falls = [estimate.ratio(past, points[best], sidak(POINTS), pooled) for past in beyond]
            row.append(not any(fall.high < 1 for fall in falls))
        held.append(row)
    return held


def of_pairs(clients: list[int]) -> Simulation:
    """Simulate the ratio of pairs of runs at these numbers of clients."""
    names = np.repeat(np.arange(PAIRED), PAIRS)

    def held(rng: np.random.Generator) -> bool:
        deviations = DEVIATION * np.sqrt(2 * DIFFERS / rng.chisquare(DIFFERS, PAIRED))
        logs = deviations[names] * rng.standard_normal(names.size)
        table = pd.DataFrame({"clients": names, "log": logs})
        return _holds(blocks.ratio(table, clients), 1.0)

    return _each(2000, held)


def contrast(effect: float) -> Simulation:
    """Simulate a contrast that stops once it is decided whether side A is better.

    Parameters
    ----------
    effect : true logarithm of the ratio.
    """

    def held(rng: np.random.Generator) -> bool:
        every = SLICE_S + OVERHEAD_S
        drawn = SECOND * seconds(rng, sequential.LOOKS[-1] * SLICES * every)
        slices = drawn.reshape(-1, SLICES, every)[..., :SLICE_S].mean(axis=2)
        order = np.where(rng.random(len(slices)) < 0.5, 1, -1)
        halves = np.stack((slices[:, 0] - slices[:, 1], slices[:, 3] - slices[:, 2]), axis=1)
        units = effect + order[:, None] * halves
        for look in sequential.LOOKS:
            interval = sequential.interval(units[:look])
            if interval.low > 0 or interval.high < 0:
                break
        return _holds(interval, effect)

    return _each(3000, held)


def parts(rng: np.random.Generator) -> Held:
    """Simulate parts of one side compared within blocks, at every look."""
    result = []
    for _ in range(4000):
        units = rng.normal(0, DEVIATION, sequential.LOOKS[-1])
        intervals = [sequential.interval(units[:n]) for n in sequential.LOOKS]
        result.append([all(_holds(interval, 0.0) for interval in intervals)])
    return result


def of_hour(
    interval: Callable[[pd.Series], Estimate], truth: float, length: int = 3600
) -> Simulation:
    """Simulate an interval from the seconds of one run."""

    def held(rng: np.random.Generator) -> bool:
        return _holds(interval(pd.Series(np.exp(SECOND * seconds(rng, length)))), truth)

    return _each(2500, held)


def windows(window_s: int, run_s: int) -> Simulation:
    """Simulate the share of windows near the mean of their run; the truth is that of all runs."""

    def held(rng: np.random.Generator) -> Held:
        intervals, shares = [], []
        for _ in range(2000):
            values = np.exp(SECOND * seconds(rng, run_s))
            sums = np.concatenate([[0], values.cumsum()])
            means = (sums[window_s:] - sums[:-window_s]) / window_s
            shares.append(np.mean(np.abs(means / values.mean() - 1) < NEAR))
            intervals.append(series.windows_share(pd.Series(values), window_s, NEAR))
        return [[_holds(interval, float(np.mean(shares)))] for interval in intervals]

    return held


def checkpoints(length: int) -> Simulation:
    """Simulate what local checkpoints (7 of every 18 s) cost a run that loses a fifth in them."""
    fall, lasts_s, every_s = 0.2, 7.0, 18.0
    begins_s = np.arange(5.0, length - lasts_s, every_s)
    spans = [Span(begin_s, begin_s + lasts_s) for begin_s in begins_s]
    ends_s = np.arange(1.0, length + 1)
    factor = 1 - fall * inside(ends_s, spans)
    truth = 1 - fall * lasts_s / every_s

    def held(rng: np.random.Generator) -> bool:
        qps = np.exp(SECOND * seconds(rng, length)) * factor
        return _holds(cost.kept(cycles(pd.Series(qps, ends_s), spans)), truth)

    return _each(2500, held)


def busy_checkpoints(length: int) -> Simulation:
    """Simulate checkpoints of about 7 s, with gaps of 0.5 s and more, 3 s on average.

    They take 70 % of the time, as in a recorded run with few rows, and most are joined to others.
    """
    fall, lasts_s, least_s, more_s = 0.2, 7.0, 0.5, 2.5
    ends_s = np.arange(1.0, length + 1)

    def held(rng: np.random.Generator) -> bool:
        begin_s, spans = 5.0, []
        while begin_s < length - 2 * lasts_s:
            end_s = begin_s + lasts_s * np.exp(0.3 * rng.standard_normal())
            spans.append(Span(begin_s, end_s))
            begin_s = end_s + least_s + rng.exponential(more_s)
        within = inside(ends_s, spans)
        qps = np.exp(SECOND * seconds(rng, length)) * (1 - fall * within)
        truth = float(1 - fall * within.mean())
        return _holds(cost.kept(cycles(pd.Series(qps, ends_s), spans)), truth)

    return _each(1000, held)


def _holds(interval: Estimate, truth: float) -> bool:
    return bool(interval.low <= truth <= interval.high)


def recordings(number: int, between: float, draws: int = 4000) -> Simulation:
    """Simulate the mean of recordings, each with an error known with six degrees of freedom.

    Parameters
    ----------
    between : standard deviation between recordings, in multiples of the error of one of them.
    """

    def held(rng: np.random.Generator) -> bool:
        values = rng.normal(0, np.hypot(between, 1), number)
        errors = np.sqrt(rng.chisquare(6, number) / 6)
        return _holds(random_effects.pooled(values, errors), 0.0)

    return _each(draws, held)
