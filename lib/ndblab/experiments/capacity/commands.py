"""What `./lab predict` and `./lab size` print.

In: a `Forecast`, and a user's question. Out: text that marks every extrapolation.
"""

from __future__ import annotations

import dataclasses
import math
import textwrap

import pandas as pd

from ndblab import formatting
from ndblab.experiments.capacity import advice, demands, model
from ndblab.experiments.capacity.forecast import Forecast
from ndblab.machine import host
from ndblab.planning import deployment, number, profile

MOST_CPUS = 100_000
MOST_SIMULATED = 4096
"""Most clients for which p95 is simulated; more would take minutes."""
_SHOWN = 3
_UTILISATION = "utilisation_"


def predict(own: Forecast, servers: object, clients: object, cpus: object = None) -> str:
    """Report the throughput and latency predicted for a point, its bottleneck and the uncertainty.

    Parameters
    ----------
    servers, clients : whole numbers, or their text.
    cpus : logical CPUs of another host, of which every part of the cluster has the same share; None
        for the dataset's host.

    Raises
    ------
    LabError
        If a value is invalid.
    """
    many = number.whole("--servers", servers, most=deployment.MAX_SERVERS)
    together = number.whole("--clients", clients, most=profile.MOST_CLIENTS)
    host_cpus = own.shares.host_cpus if cpus is None else number.positive("--cpus", cpus, MOST_CPUS)
    asked = own.model
    if host_cpus != own.shares.host_cpus:
        asked = dataclasses.replace(asked, shares=own.shares.scaled(host_cpus))
    point = pd.DataFrame({"servers": [many], "clients": [together]})
    row = model.predict(asked, point).iloc[0]
    low, high = _interval(own, point, float(row["qps"]))
    used = row[[name for name in row.index if name.startswith(_UTILISATION)]].astype(float)
    busiest = [
        f"{name.removeprefix(_UTILISATION)} {formatting.plain(100 * value)} %"
        for name, value in used.nlargest(_SHOWN).items()
    ]
    facts = {
        "throughput": f"{_number(row['qps'])} queries/s ({_number(low)} to {_number(high)} in 95 % "
        "of runs)",
        "mean latency": f"{_number(row['latency_avg_ms'])} ms",
        "p95 latency": _p95(own, asked, point),
        "bottleneck": f"{row['bottleneck']}, saturates at {_number(row['bound_qps'])} queries/s",
        "busiest": f"{', '.join(busiest)} of the capacity available to queries",
        "host's speed": "as in the fitted runs; the interval allows for a speed that has changed",
    }
    title = (
        f"{formatting.count(many, 'MySQL server')}, {formatting.count(together, 'client')}, "
        f"{formatting.count(_tidy(host_cpus), 'logical CPU')}"
    )
    if together < many:
        facts["idle"] = f"{many - together} of the servers, which have no client"
    beyond = _beyond(own, many, host_cpus, str(row["extrapolated"]))
    return _page(title, facts, beyond, own)


def size(own: Forecast, cpus: object) -> str:
    """Recommend servers, clients per server and a CPU split for a host, with the reason.

    Parameters
    ----------
    cpus : logical CPUs of the host.

    Raises
    ------
    LabError
        If it is invalid.
    """
    host_cpus = number.positive("--cpus", cpus, MOST_CPUS)
    best = advice.advise(own.model, host_cpus)
    clients = best.servers * best.clients_per_server
    facts = {
        "MySQL servers": str(best.servers),
        "clients per server": f"{best.clients_per_server} ({clients} in all)",
        "data nodes": f"{_number(best.data_node_cpus)} logical CPUs for both of them",
        "SQL side": f"{_number(best.sql_cpus)} logical CPUs for all MySQL servers and the clients",
        "predicted": f"{_number(best.qps)} queries/s at a mean latency of "
        f"{_number(best.latency_avg_ms)} ms",
        "bottleneck": best.bottleneck,
        "because": best.reason,
    }
    beyond = _beyond(own, best.servers, host_cpus, "")
    title = f"For {formatting.count(_tidy(host_cpus), 'logical CPU')}"
    return _page(title, facts, beyond, own)


def _interval(own: Forecast, point: pd.DataFrame, qps: float) -> tuple[float, float]:
    """Return the ends of the interval of a prediction.

    On a host of another size its relative width is that of the measured host: it covers the
    variability of runs and of the host's speed, not the error of scaling.
    """
    row = own.predict(point).iloc[0]
    return qps * row["qps_low"] / row["qps"], qps * row["qps_high"] / row["qps"]


def _p95(own: Forecast, asked: model.Model, point: pd.DataFrame) -> str:
    if point["clients"].max() > MOST_SIMULATED:
        return f"not simulated for more than {MOST_SIMULATED} clients"
    row = own.simulate(asked, point).iloc[0]
    value, low, high = (_number(row[f"latency_p95_ms{end}"]) for end in ("", "_low", "_high"))
    return f"{value} ms ({low} to {high}), simulated"


def _beyond(own: Forecast, servers: int, host_cpus: float, clients: str) -> list[str]:
    """List the ways in which an answer extrapolates."""
    said = [clients] if clients else []
    if host_cpus != own.shares.host_cpus:
        there = formatting.count(_tidy(own.shares.host_cpus), "logical CPU")
        said.append(
            f"{_tidy(host_cpus)} logical CPUs; measured on {there}. The same share of the host is "
            "assumed for every part, and CPUs of the same speed; the interval does not cover the "
            "error of scaling"
        )
    most = int(own.points["servers"].max())
    if servers > most:
        said.append(f"{formatting.count(servers, 'server')}; measured with up to {most}")
    return said


def _page(title: str, facts: dict[str, str], beyond: list[str], own: Forecast) -> str:
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


def _tidy(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number


def _number(value: float) -> str:
    return formatting.plain(float(value)) if math.isfinite(value) else "unknown"
