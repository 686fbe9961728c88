"""Advice on the number of servers: what was measured without quotas, and a division of the CPUs."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import pytest

import made_up_model as made
from made_up import PROCESSES
from ndblab import formatting
from ndblab.comparing import sides
from ndblab.design import catalogue
from ndblab.experiments.capacity import commands, forecast, undivided
from ndblab.machine import host
from ndblab.measuring import measurement, recorded

CLIENTS = 64
ONE_IS_BEST = {1: 50_000.0, 2: 49_000.0, 4: 30_000.0}


def costs(best: Mapping[int, float], cpus: int = 2) -> made.Named:
    """A dataset of the made-up host without quotas, with the best throughput of each number of
    servers; a quarter of a query's CPU time is the data nodes'."""
    data = made.dataset(tuple(best), (16, CLIENTS), budget="shared", name="undivided-1")
    top = data.runs["servers"].map(best)
    data.runs["qps"] = top.where(data.runs["clients"] == CLIENTS, 0.8 * top)
    used = (("mysqld", 11, 100.0), ("ndbmtd", 2, 40.0), ("sysbench", 0, 20.0))
    rows = [(run, 1.0, *process, 1) for run in data.runs["run_id"] for process in used]
    data.processes = pd.DataFrame(rows, columns=PROCESSES).astype({"role": "category"})
    data.host = {**data.host, "cpus": [data.host["cpus"][0]] * cpus}
    return data


@pytest.fixture(scope="module")
def own() -> forecast.Forecast:
    """A model of a made-up cluster of two CPUs."""
    return forecast.of(made.dataset())


def size(*question: object) -> str:
    """Return the advice in one line; digits stay grouped."""
    return re.sub(r"[ \n]+", " ", commands.size(*question))


def test_undivided_cpus_lead_where_one_server_does_more_on_them(own: forecast.Forecast) -> None:
    """The reason follows, with the dataset and its host; the division stands below."""
    text = size(own, 2, None, costs(ONE_IS_BEST))
    assert text.startswith(
        "For 2 logical CPUs advice 1 MySQL server with 64 clients, and CPUs that are not divided"
    )
    one, two, four = map(formatting.plain, ONE_IS_BEST.values())
    assert f"1 server did {one} queries/s at best, 2 did {two} and 4 did {four}" in text
    assert f"measured on {made.HOST.describe()}, dataset undivided-1" in text
    assert text.index("not divided") < text.index("divide the CPUs nevertheless")
    assert text.index("nevertheless") < text.index("clients per server")


def test_several_servers_are_advised_where_they_do_more(own: forecast.Forecast) -> None:
    """The fewest within 3 % of the best."""
    text = size(own, 2, None, costs({1: 50_000, 2: 60_000, 4: 61_000}))
    assert "advice 2 MySQL servers with 64 clients" in text


def test_the_most_servers_that_were_measured_are_said_to_be_that(own: forecast.Forecast) -> None:
    """More might do better."""
    text = size(own, 2, None, costs({1: 50_000, 2: 60_000, 4: 90_000}))
    assert "more servers were not measured" in text
    assert "were not measured" not in size(own, 2, None, costs(ONE_IS_BEST))


def test_a_division_leads_where_it_does_more_on_the_same_host(own: forecast.Forecast) -> None:
    """By its prediction, against what was measured without quotas."""
    text = size(own, 2, None, costs({1: 100, 2: 90}))
    assert "advice the division below" in text
    assert "1 server did 100 queries/s at best" in text


def test_the_data_nodes_get_their_part_of_a_querys_cpu_time(own: forecast.Forecast) -> None:
    """As measured without quotas, whatever the model fitted under quotas would divide."""
    text = size(own, 2, None, costs(ONE_IS_BEST))
    assert "0.5 logical CPUs for both of them, 25 % of the host" in text
    assert "without quotas they take 25 % of a query's CPU time" in text


def test_another_hosts_measurement_is_named_and_decides_nothing(own: forecast.Forecast) -> None:
    """The recorded one is of as many CPUs of another model: the advice is to measure."""
    text, theirs = size(own, 2), recorded.obtain(undivided.NAME)
    assert "advice first measure there whether dividing the CPUs pays" in text
    assert "./lab reproduce --experiment costs" in text
    assert f"{host.from_dict(dict(theirs.host)).describe()}, dataset {theirs.id}" in text
    assert "and CPUs that are not divided" not in text
    larger = size(own, 64, 90_000)
    assert "first measure there" in larger
    assert theirs.id not in larger


def test_a_host_without_a_sweep_of_one_server_is_advised_too(own: forecast.Forecast) -> None:
    """The model is of two CPUs: what was measured on four is enough for servers and clients."""
    text = size(own, 4, None, costs(ONE_IS_BEST, cpus=4))
    assert "For 4 logical CPUs advice 1 MySQL server with 64 clients" in text
    assert "a division needs a sweep of one server: ./lab reproduce --figure 4" in text
    assert "servers=1 servers=2 --clients 64" in text


@pytest.mark.parametrize("best", [ONE_IS_BEST, {1: 50_000, 2: 60_000, 4: 90_000}, {1: 100}])
def test_the_last_line_tries_the_advice(own: forecast.Forecast, best: Mapping[int, float]) -> None:
    """It is a comparison of one server with several, which `./lab compare` takes as it stands."""
    last = commands.size(own, 2, None, costs(best)).splitlines()[-1].strip()
    lab, command, *words, option, clients = last.split()
    assert (lab, command, option) == ("./lab", "compare", "--clients")
    parsed = sides.parse(words)
    many = int(parsed.value("b", "servers"))
    assert parsed.value("a", "servers") == 1
    assert 1 < many <= int(clients)


def test_the_recorded_advice_is_what_was_measured_without_quotas() -> None:
    """On the recorded host no division is predicted to do more; each recording is counted."""
    own, data = forecast.obtain(), recorded.obtain(undivided.NAME)
    text = size(own, own.shares.host_cpus)
    assert "and CPUs that are not divided" in text
    assert f"of {1 + len(data.earlier)} recordings" in text
    assert data.id in text


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put datasets of `costs` where a user's own measurements are."""
    monkeypatch.setattr(measurement, "RUNS", tmp_path)
    source = recorded.folder(catalogue.find(undivided.NAME))

    def put(started_utc: str, **changes: object) -> Path:
        folder = tmp_path / undivided.NAME / f"costs-{started_utc}"
        shutil.copytree(source, folder)
        manifest = json.loads((folder / "manifest.json").read_text())
        text = json.dumps(manifest | {"started_utc": started_utc} | changes)
        (folder / "manifest.json").write_text(text)
        return folder

    return put


def test_the_newest_measurement_of_this_host_counts(mine: Callable[..., Path]) -> None:
    """A newer kernel makes no other host; trials, and what is of other hosts, are passed over."""
    here = dict(recorded.obtain(undivided.NAME).host)
    assert undivided.measured_on(here) is None
    mine("2026-01-01")
    newest = mine("2026-01-02", host={**here, "kernel": "7.0"})
    mine("2026-01-03", host={**here, "cpu_model": "Other CPU"})
    mine("2026-01-04", profile={"name": "smoke"})
    mine("2026-01-05", status="unfinished")
    (mine("2026-01-06") / "manifest.json").write_text("{")
    dataset = undivided.measured_on(here)
    assert dataset is not None
    assert dataset.path == newest
    assert undivided.measured_on({**here, "cpu_model": "Third CPU"}) is None
