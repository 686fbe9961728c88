"""What `./lab predict` and `./lab size` print, with every extrapolation marked."""

from __future__ import annotations

import math
import textwrap
from dataclasses import replace

import numpy as np
import pandas as pd

from ndblab import formatting
from ndblab.dataset import Dataset
from ndblab.error import LabError
from ndblab.experiments.capacity import brief_server, demands, forecast, undivided
from ndblab.experiments.capacity import model as models
from ndblab.experiments.capacity.comparison import MODEL
from ndblab.experiments.capacity.demands import CLIENT, KINDS, SERVER
from ndblab.experiments.capacity.forecast import Forecast
from ndblab.experiments.capacity.model import Model
from ndblab.experiments.capacity.undivided import Undivided
from ndblab.figures import published
from ndblab.machine import host
from ndblab.measuring import recorded
from ndblab.planning import cpu_budget, number, profile
from ndblab.planning.node import MAX_SERVERS

MOST_CPUS, MOST_QPS = 100_000, 1e9
ENOUGH = 0.97
"""Part of the best throughput that is good enough: more servers or clients gain little."""
MOST_SERVERS, MOST_CLIENTS = 64, 2048
DATA_SHARES = np.round(np.arange(0.10, 0.61, 0.05), 2)
NO_SWEEP = "needs a sweep of one server: ./lab reproduce --figure 4, then ./lab size --from DIR"
_UTILISATION = "utilisation_"


def predict(
    own: Forecast,
    servers: object,
    clients: object,
    cpus: object = None,
    qps_one_server: object = None,
) -> str:
    """Report the throughput and latency predicted for a point, its bottleneck and the uncertainty.

    Numbers may be texts; `cpus` and `qps_one_server` are those of `_of_host`. LabError if a
    value is invalid, or the speed of another host is missing.
    """
    many = number.whole("--servers", servers, most=MAX_SERVERS)
    together = number.whole("--clients", clients, most=profile.MOST_CLIENTS)
    there, speed = _of_host(own, cpus, qps_one_server)
    point = pd.DataFrame({"servers": [many], "clients": [together]})
    row, here = models.predict(there, point).iloc[0], own.predict(point).iloc[0]
    as_fitted = there.shares.host_cpus == own.shares.host_cpus
    # On another host the relative width of the interval is that of the measured one.
    low, high = (row["qps"] * here[end] / here["qps"] for end in ("qps_low", "qps_high"))
    used = row[[name for name in row.index if name.startswith(_UTILISATION)]].astype(float)
    busiest = [
        f"{name.removeprefix(_UTILISATION)} {formatting.plain(100 * value)} %"
        for name, value in used.nlargest(3).items()
    ]
    facts = {
        "throughput": f"{_number(row['qps'])} queries/s ({_number(low)} to {_number(high)} in 95 % "
        "of runs)",
        "mean latency": f"{_number(row['latency_avg_ms'])} ms",
        "p95 latency": _p95(row, here, speed, as_fitted),
        "bottleneck": f"{row['bottleneck']}, saturates at {_number(row['bound_qps'])} queries/s",
        "busiest": f"{', '.join(busiest)} of the capacity available to queries",
        "host's speed": "as in the fitted runs; the interval allows for a speed that has changed",
    }
    if qps_one_server is not None:
        facts["host's speed"] = f"{formatting.plain(speed)} times that of the fitted runs"
    if together < many:
        facts["idle"] = f"{many - together} of the servers, which have no client"
    of_brief = [
        published.words(anchor)
        for anchor in brief_server.anchors()
        if (anchor.servers, anchor.clients, anchor.unit) == (many, together, "queries/s")
        and there.shares.host_cpus == cpu_budget.BRIEF_CPUS
    ]
    if of_brief:
        facts["published"] = f"{formatting.listed(of_brief)}, on the brief's server"
    title = (
        f"{formatting.count(many, 'MySQL server')}, {formatting.count(together, 'client')}, "
        f"{_cpus(there.shares.host_cpus)}"
    )
    return _page([title, "", *_listed(facts)], own, there, many, str(row["extrapolated"]))


def _p95(row: pd.Series, here: pd.Series, speed: float, as_fitted: bool) -> str:
    """Write the p95 and its method: the simple one of `forecast.methods` where that was tested.

    Parameters
    ----------
    row : the model's prediction for the host that is asked about.
    here : `Forecast.predict` for the fitted one.
    as_fitted : whether both have as many CPUs; else the curve of one server has another shape.
    """
    metric, by = "latency_p95_ms", here["p95_by"]
    if as_fitted and by != MODEL:
        errors = forecast.obtain().verdicts.set_index(["name", "metric"])["median_pct"]
        return (
            f'{_number(here[metric] / speed)} ms, by the simple method "{by}", which was nearer '
            f"than the model: {formatting.percent(errors[by, metric])} % off at the median"
        )
    words = f"{_number(row[metric])} ms, approximated from the mean times at each resource"
    if forecast.methods()[metric] == MODEL:
        return words
    return (
        f"{words}. A simple method is nearer, but needs runs of one server on so many CPUs with as "
        "many clients"
    )


def size(
    own: Forecast, cpus: object, qps_one_server: object = None, mine: Dataset | None = None
) -> str:
    """Recommend servers and clients for a host, and whether and how to divide its CPUs.

    What was measured there without quotas leads, unless the model predicts more for a division.
    The last line is the command that tries the advice. Numbers and errors are those of `predict`.

    Parameters
    ----------
    mine : of `undivided.measured_on` the host; None for the recorded dataset.
    """
    measured = Undivided(mine or recorded.obtain(undivided.NAME))
    fitted_cpus = own.shares.host_cpus
    host_cpus = fitted_cpus if cpus is None else number.positive("--cpus", cpus, MOST_CPUS)
    known = qps_one_server is None and measured.cpus == host_cpus and not measured.tops.empty
    title = f"For {_cpus(host_cpus)}"
    if known and mine and host_cpus != fitted_cpus:
        facts = measured.advice() | {"a division": NO_SWEEP}
        trial = undivided.trial(measured.best.servers, measured.best.knee_clients)
        return "\n".join([title, "", *_listed(facts), "", *trial])
    there, _ = _of_host(own, cpus, qps_one_server)
    alike = known and undivided.same_host(measured.data.host, own.fitted.host)
    ours = alike or (known and mine is not None)
    best = advise(there, measured.data_nodes_share if ours else math.nan)
    divided_qps = best["qps"] if alike else None
    lead = measured.advice(divided_qps) if ours else measured.advice_elsewhere(known)
    if ours and mine is None:
        lead["your own host"] = f"{undivided.COMMAND}, then ./lab size"
    whole = ours and measured.beats(divided_qps)
    heading = "To divide the CPUs nevertheless, so that parts cannot disturb each other:"
    if not whole:
        heading = "The division of the CPUs, by the model:"
    lines = [title, "", *_listed(lead), "", heading, "", *_listed(_divided(there, best))]
    clients = measured.best.knee_clients if whole else best["clients"]
    servers = max(best["servers"], measured.best.servers if ours else 1)
    page = _page(lines, own, there, best["servers"])
    return "\n".join([page, "", *undivided.trial(servers, clients)])


def _divided(there: Model, best: pd.Series) -> dict[str, str]:
    """Write the servers, clients and shares of CPUs of a division (`advise`), with the reason."""
    host_cpus, n = there.shares.host_cpus, best["clients"] / best["servers"]
    us = {name: float(there.laws[name].us(n)) for name in (CLIENT, SERVER, *KINDS)}
    ndb_us, all_us = sum(us[kind] for kind in KINDS), sum(us.values())
    return {
        "MySQL servers": str(best["servers"]),
        "clients per server": f"{n:.0f} ({best['clients']} in all)",
        "data nodes": f"{_number(best['data_node_cpus'])} logical CPUs for both of them, "
        f"{100 * best['data_node_cpus'] / host_cpus:.0f} % of the host{best['share_by']}",
        "SQL side": f"{_number(best['sql_cpus'])} logical CPUs for all MySQL servers and the "
        "clients",
        "predicted": f"{_number(best['qps'])} queries/s at a mean latency of "
        f"{_number(best['latency_avg_ms'])} ms",
        "bottleneck": best["bottleneck"],
        "because": f"with {n:.0f} clients per server a query costs {us[SERVER]:.0f} us of CPU time "
        f"in mysqld, {ndb_us:.0f} us in the data nodes and {us[CLIENT]:.0f} us in sysbench. "
        f"That is {all_us:.0f} us in all, so {host_cpus:g} CPUs can serve at most "
        f"{_number(1e6 * host_cpus / all_us)} queries/s. The bottleneck ({best['bottleneck']}) "
        f"saturates first, at {_number(best['bound_qps'])} queries/s",
    }


def advise(own: Model, share: float = math.nan) -> pd.Series:
    """Recommend the fewest servers, then the fewest clients, close to the best throughput.

    Parameters
    ----------
    share : the data nodes' part of a query's CPU time without quotas, which decides their part of
        the CPUs; NaN to take the split of `DATA_SHARES` for which the model predicts most.

    Returns
    -------
    A row of `model.predict`, with `data_node_cpus`, `sql_cpus` and `share_by` (why so, in words).
    """
    parts, why = DATA_SHARES, ""
    if math.isfinite(share):
        parts = DATA_SHARES[[np.abs(DATA_SHARES - share).argmin()]]
        why = f": without quotas they take {100 * share:.0f} % of a query's CPU time"
    low, high = own.clients_per_server
    per_server = sorted({int(n) for n in 2 ** np.arange(0, 11) if low <= n <= high} | {int(low)})
    counts = np.unique(np.geomspace(1, MOST_SERVERS, 25).round().astype(int))
    pairs = [(s, s * n) for s in counts for n in per_server if s * n <= MOST_CLIENTS]
    grid = pd.DataFrame(pairs, columns=["servers", "clients"])
    tables = []
    for part in parts:
        host_cpus = own.shares.host_cpus
        split = {"data_node_cpus": part * host_cpus, "sql_cpus": (1 - part) * host_cpus}
        divided = replace(own, shares=replace(own.shares, **split))
        tables.append(models.predict(divided, grid).assign(**split, share_by=why))
    table = pd.concat(tables, ignore_index=True)
    enough = table[table["qps"] >= ENOUGH * table["qps"].max()]
    return enough.sort_values(["servers", "clients", "qps"], ascending=[True, True, False]).iloc[0]


def _of_host(own: Forecast, cpus: object, qps_one_server: object) -> tuple[Model, float]:
    """Return the model of a host, and its speed: 1 if it is as fast as in the fitted runs.

    Parameters
    ----------
    cpus : logical CPUs of the host, of which every part of the cluster has the same share; None for
        those of the dataset's host.
    qps_one_server : the most queries/s that one MySQL server reaches there; None for the dataset's
        host. The CPU time of every query is scaled until the model says the same.
    """
    fitted_cpus = own.shares.host_cpus
    host_cpus = fitted_cpus if cpus is None else number.positive("--cpus", cpus, MOST_CPUS)
    there = replace(own.model, shares=own.shares.scaled(host_cpus))
    if qps_one_server is None and host_cpus != fitted_cpus:
        raise LabError(
            "The speed of another host is unknown",
            found=f"{_cpus(host_cpus)}; the model is fitted to {fitted_cpus:g}, dataset "
            f"{own.fitted.id}",
            expected="the most queries/s that one MySQL server reaches there",
            next_step="Add --qps-one-server QPS (230000 on the brief's server); or measure one "
            "server there (./lab reproduce --figure 4) and give that dataset with --from DIR. "
            f"For ./lab size, this is enough there: {undivided.COMMAND}",
        )
    if qps_one_server is None:
        return there, 1.0
    known_qps = number.positive("--qps-one-server", qps_one_server, MOST_QPS)
    clients = np.unique(np.geomspace(*own.model.clients_per_server, 40).round()).astype(int)
    alone = models.predict(there, pd.DataFrame({"servers": 1, "clients": clients}))
    speed = known_qps / float(alone["qps"].max())
    return there.at_speed(speed), speed


def _page(lines: list[str], own: Forecast, there: Model, servers: int, clients: str = "") -> str:
    """End an answer with its sources; `clients` says how they exceed the fitted range."""
    beyond = [clients] if clients else []
    if there.shares.host_cpus != own.shares.host_cpus:
        beyond.append(
            f"{_cpus(there.shares.host_cpus)}; measured on {_cpus(own.shares.host_cpus)}. Every "
            "part is assumed to have the same share of the host, and to be as much faster as one "
            "MySQL server; no interval covers the error of scaling"
        )
    most = int(own.points["servers"].max())
    if servers > most:
        beyond.append(f"{formatting.count(servers, 'server')}; measured with up to {most}")
    lines = list(lines)
    for text in beyond:
        lines += ["", *_folded("Extrapolated: ", f"{text}.")]
    good = own.fitted_runs
    machine = host.from_dict(dict(own.fitted.host)).describe()
    fitted = (
        f"{formatting.count(len(good), 'run')} of one server with {good['clients'].min()} to "
        f"{good['clients'].max()} clients, dataset {own.fitted.id}, CPU budget "
        f"{own.fitted.budget}, {machine}."
    )
    lines += ["", *_folded("Fitted to ", fitted)]
    if left_out := demands.left_out(demands.alone(own.fitted)):
        lines += _folded("", f"{left_out}.")
    return "\n".join(lines)


def _listed(facts: dict[str, str]) -> list[str]:
    """Lay out facts below each other, each with its name."""
    width = max(map(len, facts))
    return [line for key in facts for line in _folded(f"  {key:<{width}}  ", facts[key])]


def _folded(start: str, text: str) -> list[str]:
    indents = {"initial_indent": start, "subsequent_indent": " " * len(start)}
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False, **indents)


def _cpus(count: float) -> str:
    return formatting.count(int(count) if float(count).is_integer() else count, "logical CPU")


def _number(value: float) -> str:
    return formatting.plain(float(value)) if math.isfinite(value) else "unknown"
