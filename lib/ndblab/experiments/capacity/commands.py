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
from ndblab.experiments.capacity import brief_server, demands
from ndblab.experiments.capacity import model as models
from ndblab.experiments.capacity.demands import CLIENT, KINDS, SERVER
from ndblab.experiments.capacity.forecast import Forecast
from ndblab.experiments.capacity.model import Model
from ndblab.figures import published
from ndblab.judging import evidence
from ndblab.machine import host
from ndblab.measuring import recorded
from ndblab.planning import cpu_budget, number, profile
from ndblab.planning.node import MAX_SERVERS
from ndblab.statistics import summary

MOST_CPUS, MOST_QPS = 100_000, 1e9
ENOUGH = 0.97
"""Part of the best throughput that is good enough: more servers or clients gain little."""
MOST_SERVERS, MOST_CLIENTS = 64, 2048
DATA_SHARES = np.round(np.arange(0.10, 0.61, 0.05), 2)
UNDIVIDED = "costs"
"""The experiment that measures one MySQL server and many without quotas."""
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
        "p95 latency": f"{_number(row['latency_p95_ms'])} ms, approximated from the mean times at "
        "each resource",
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
    return _page(title, facts, own, there, many, str(row["extrapolated"]))


def size(own: Forecast, cpus: object, qps_one_server: object = None) -> str:
    """Recommend servers, clients per server and a CPU split for a host, with the reason.

    Numbers and errors are those of `predict`.
    """
    there, _ = _of_host(own, cpus, qps_one_server)
    best = advise(there)
    host_cpus, n = there.shares.host_cpus, best["clients"] / best["servers"]
    us = {name: float(there.laws[name].us(n)) for name in (CLIENT, SERVER, *KINDS)}
    ndb_us, all_us = sum(us[kind] for kind in KINDS), sum(us.values())
    facts = {
        "MySQL servers": str(best["servers"]),
        "clients per server": f"{n:.0f} ({best['clients']} in all)",
        "data nodes": f"{_number(best['data_node_cpus'])} logical CPUs for both of them",
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
    if qps_one_server is None:
        facts |= undivided(recorded.obtain(UNDIVIDED), host_cpus, best["qps"])
    return _page(f"For {_cpus(host_cpus)}", facts, own, there, best["servers"])


def undivided(measured: Dataset, host_cpus: float, divided_qps: float) -> dict[str, str]:
    """Say what one MySQL server and many do where no quota divides a host of so many CPUs.

    Empty if this was not measured on as many CPUs. Where one server without quotas does more than
    the division is predicted to do, it advises against dividing.
    """
    if evidence.usable_cpus(measured.host) != host_cpus:
        return {}
    tops = summary.peaks(summary.points(measured.runs))
    one, many = tops.iloc[0], tops.iloc[-1]
    words = [
        f"{formatting.count(int(top.servers), 'server')} did {_number(top.qps_mean)} queries/s at "
        f"best, with {int(top.clients)} clients"
        for top in (one, many)
    ]
    said = f"measured without quotas (dataset {measured.id}): {'; '.join(words)}"
    if one.qps_mean > divided_qps:
        said += ". One server alone does more than this division: divide the CPUs only where "
        said += "parts must not disturb each other"
    return {"undivided": said}


def advise(own: Model) -> pd.Series:
    """Recommend the fewest servers, then the fewest clients, close to the best throughput.

    The split of CPUs between the data nodes and the SQL side is varied in steps of 5 % of the host.

    Returns
    -------
    A row of `model.predict`, with `data_node_cpus` and `sql_cpus`.
    """
    low, high = own.clients_per_server
    per_server = sorted({int(n) for n in 2 ** np.arange(0, 11) if low <= n <= high} | {int(low)})
    counts = np.unique(np.geomspace(1, MOST_SERVERS, 25).round().astype(int))
    pairs = [(s, s * n) for s in counts for n in per_server if s * n <= MOST_CLIENTS]
    grid = pd.DataFrame(pairs, columns=["servers", "clients"])
    tables = []
    for part in DATA_SHARES:
        host_cpus = own.shares.host_cpus
        split = {"data_node_cpus": part * host_cpus, "sql_cpus": (1 - part) * host_cpus}
        divided = replace(own, shares=replace(own.shares, **split))
        tables.append(models.predict(divided, grid).assign(**split))
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
            "server there (./lab reproduce --figure 4) and give that dataset with --from DIR.",
        )
    if qps_one_server is None:
        return there, 1.0
    known_qps = number.positive("--qps-one-server", qps_one_server, MOST_QPS)
    clients = np.unique(np.geomspace(*own.model.clients_per_server, 40).round()).astype(int)
    alone = models.predict(there, pd.DataFrame({"servers": 1, "clients": clients}))
    speed = known_qps / float(alone["qps"].max())
    return there.at_speed(speed), speed


def _page(
    title: str, facts: dict[str, str], own: Forecast, there: Model, servers: int, clients: str = ""
) -> str:
    """Lay out an answer; `clients` says how they exceed the fitted range."""
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
    width = max(map(len, facts))
    lines = [title, ""]
    for name, text in facts.items():
        lines += _folded(f"  {name:<{width}}  ", text)
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


def _folded(start: str, text: str) -> list[str]:
    indents = {"initial_indent": start, "subsequent_indent": " " * len(start)}
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False, **indents)


def _cpus(count: float) -> str:
    return formatting.count(int(count) if float(count).is_integer() else count, "logical CPU")


def _number(value: float) -> str:
    return formatting.plain(float(value)) if math.isfinite(value) else "unknown"
