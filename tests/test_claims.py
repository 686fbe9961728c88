"""Verdicts. The datasets here are doubles: a few made-up rows, never a measurement."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndblab import brief, checks, claims, evidence
from ndblab import verdict as verdicts
from ndblab.error import LabError

CLAIMS = brief.claims()
BY_ID = {claim.id: claim for claim in CLAIMS}
SCOPE = [c.id for c in CLAIMS if c.id.startswith(("F6-", "F7-")) or c.id == "F4-peak-clients"]
BRIEF_MODEL = "AMD EPYC 7742 64-Core Processor"
Curve = Callable[[int, int], float]


@dataclass
class Double:
    """A made-up dataset."""

    runs: pd.DataFrame
    processes: pd.DataFrame
    budget: str = "scaled"
    id: str = "double"
    host: dict[str, Any] = field(default_factory=lambda: {"logical_cpus": 2, "cpu_model": "x"})


def scaled_qps(servers: int, clients: int) -> float:
    """A ceiling for each server, one for all of them, and a little loss past it."""
    top = min(1000.0 * servers, 4600.0)
    return min(250.0 * clients, top * (1 - 0.02 * max(0, clients / (4 * servers) - 2)))


def double(
    qps: Curve = scaled_qps,
    *,
    p95: Curve | None = None,
    spread: float = 0.003,
    repeats: int = 4,
    servers: tuple[int, ...] = (1, 2, 4, 8, 16),
    clients: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512),
    mysqld_cpus: Curve = lambda servers, clients: 0.1,
    budget: str = "scaled",
    cpus: int = 2,
    model: str = "x",
) -> Double:
    """Make a dataset of a curve; its runs differ by `spread` up and down, other points by turns."""
    p95 = p95 or (lambda n, c: 2000 * c / qps(n, c))
    rows, processes = [], []
    for n in servers:
        for c in clients:
            turn = len(rows) // repeats
            for repeat in range(repeats):
                factor = 1 + spread * (-1) ** (repeat + turn)
                name = f"s{n:02}_c{c:04}_r{repeat}"
                rows.append(
                    {
                        "run_id": name,
                        "status": "ok",
                        "servers": n,
                        "clients": c,
                        "repeat": repeat + 1,
                        "transporter": "shm",
                        "workload": "oltp_point_select",
                        "qps": qps(n, c) * factor,
                        "errors": 0,
                        "latency_p95_ms": p95(n, c) / factor,
                        "latency_avg_ms": p95(n, c) / 2,
                        "client_cpu_pct": 10.0,
                        "host_busy_pct": 50.0,
                    }
                )
                processes.append((name, 1, "mysqld", 11, 100 * mysqld_cpus(n, c), 1))
    columns = ["run_id", "t_s", "role", "node_id", "cpu_pct", "rss_bytes"]
    host = {"logical_cpus": cpus, "cpu_model": model}
    table = pd.DataFrame(processes, columns=columns).astype({"role": "category"})
    return Double(pd.DataFrame(rows), table, budget, host=host)


def verdict(dataset: Double, name: str) -> pd.Series:
    """Judge one claim."""
    table = claims.judge(dataset, [name], CLAIMS)
    assert list(table.columns) == claims.COLUMNS
    return table.iloc[0]


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, checks.Check]:
    """A registry of checks that a test may change."""
    copy = dict(checks.CHECKS)
    monkeypatch.setattr(claims, "CHECKS", copy)
    return copy


def test_every_claim_of_figures_6_and_7_has_a_check() -> None:
    """All claims that the scaling experiment is about have a check, and each check a claim."""
    assert set(SCOPE) <= set(checks.CHECKS) <= set(BY_ID)


@pytest.mark.parametrize("budget", brief.BUDGETS)
def test_a_check_that_crashes_is_unknown(registry: dict[str, checks.Check], budget: str) -> None:
    """A crash of a check is unknown with its reason, under every budget, and stops no other."""

    def broken(claim: brief.Claim, seen: evidence.Evidence) -> verdicts.Finding:
        raise ZeroDivisionError("a slip")

    registry["F6-8-to-16"] = broken
    table = claims.judge(double(budget=budget), ["F6-8-to-16", "F6-overload"], CLAIMS)
    assert table["verdict"][0] == "unknown"
    assert "a slip" in table["reason"][0]
    assert table["verdict"][1] != "unknown"


def test_a_dataset_that_cannot_be_looked_at_is_unknown() -> None:
    """A table with a column missing makes every check unknown, never reproduced."""
    dataset = double()
    dataset.runs = dataset.runs.drop(columns="qps")
    table = claims.judge(dataset, SCOPE, CLAIMS)
    assert set(table["verdict"]) == {"unknown"}


def test_a_claim_without_a_check_is_unknown() -> None:
    """A claim that nothing checks says that no experiment measures it yet."""
    row = verdict(double(), "H-q20")
    assert (row.verdict, row.reason) == ("unknown", "no experiment measures it yet")


def test_an_unknown_id_is_refused() -> None:
    """A claim id that does not exist is a user's mistake with one clear message."""
    with pytest.raises(LabError, match="no such claim"):
        claims.judge(double(), ["F66"], CLAIMS)


def test_an_unknown_budget_is_refused() -> None:
    """A dataset with a budget of another name is refused."""
    with pytest.raises(LabError, match="CPU budget"):
        claims.judge(double(budget="half"), None, CLAIMS)


# No deadline: how long an example takes says more of the machine than of the code.
@settings(deadline=None, max_examples=40)
@given(
    level=st.floats(10, 1e6),
    servers_power=st.floats(-1, 2),
    clients_power=st.floats(-1, 1.5),
    spread=st.sampled_from([0.0, 0.001, 0.05]),
    model=st.sampled_from(["x", BRIEF_MODEL]),
    cpus=st.sampled_from([1, 2, 64, 256, 1024]),
)
def test_what_is_imposed_is_never_a_finding(
    level: float,
    servers_power: float,
    clients_power: float,
    spread: float,
    model: str,
    cpus: int,
) -> None:
    """Whatever the data: a claim that `scaled` decides by itself is not testable there."""
    dataset = double(
        lambda n, c: level * n**servers_power * c**clients_power,
        p95=lambda n, c: level / c**clients_power,
        spread=spread,
        repeats=2,
        clients=(16, 32, 64, 512, 1024, 2048),
        cpus=cpus,
        model=model,
    )
    imposed = [name for name in SCOPE if BY_ID[name].budgets["scaled"] != "yes"]
    assert {"F6-8-to-16", "F7-growth", "F4-peak-clients", "F7-one"} <= set(imposed)
    assert set(claims.judge(dataset, imposed, CLAIMS)["verdict"]) == {"not testable here"}


@pytest.mark.parametrize("name", SCOPE)
def test_no_budget_no_scaling_claim(name: str) -> None:
    """Without a division of CPUs nothing about more servers is judged; overload is."""
    row = verdict(double(budget="shared"), name)
    assert (row.verdict == "not testable here") == (name != "F6-overload")


@pytest.mark.parametrize("name", SCOPE)
def test_one_run_a_point_decides_nothing(name: str) -> None:
    """With one run a point there is no spread: no claim is reproduced or contradicted."""
    dataset = double(repeats=1, budget="pinned", cpus=256, model=BRIEF_MODEL)
    row = verdict(dataset, name)
    assert row.verdict in ("inconclusive", "not testable here", "unknown")


def test_one_run_a_point_still_shows_its_value() -> None:
    """The value is shown, without an interval, and the reason says why there is no verdict."""
    row = verdict(double(repeats=1), "F6-double-servers")
    assert row.verdict == "inconclusive"
    assert row.measured == pytest.approx(2, rel=0.02)
    assert math.isnan(row.low)
    assert "one run a point" in row.reason


def test_an_imposed_claim_still_shows_its_value_and_the_bound() -> None:
    """8 to 16 servers in `scaled`: no verdict, but the ratio, its interval and what CPUs allow."""
    row = verdict(double(), "F6-8-to-16")
    assert row.verdict == "not testable here"
    assert row.low < row.measured < row.high
    assert row.reason.startswith("imposed")
    assert "allow 1.00 at most" in row.reason


def test_doubling_is_judged_where_the_shares_leave_room_for_it() -> None:
    """In `scaled` 1 to 2 and 2 to 4 decide; 4 to 8 is shown with its bound and not judged."""
    row = verdict(double(), "F6-double-servers")
    assert row.verdict == "reproduced"
    assert "1.15 (1.14 to 1.16) from 4 to 8 servers" in row.reason
    assert "not judged, as the CPUs allow 1.60 at most" in row.reason
    assert row.low > 1.6


def test_no_check_crashes_on_a_small_sweep() -> None:
    """With 1 and 2 servers only, what is not there is said to be missing, in every budget."""
    for budget in ("scaled", "shared", "pinned"):
        dataset = double(servers=(1, 2), clients=(2, 8), repeats=1, budget=budget)
        table = claims.judge(dataset, None, brief.claims())
        assert not table["reason"].str.contains("crashed").any()


def test_a_missing_doubling_is_not_a_reproduced_one() -> None:
    """With 1 and 2 servers only, the half that was not measured keeps the verdict open."""
    row = verdict(double(servers=(1, 2)), "F6-double-servers")
    assert row.verdict == "inconclusive"
    assert "4 servers not measured" in row.reason


def test_doubling_that_fails_once_is_contradicted_and_shows_the_worst() -> None:
    """One doubling clearly below the threshold contradicts; the number shown is that one."""
    row = verdict(double(lambda n, c: min(250 * c, min(n, 2) * 1000)), "F6-double-servers")
    assert row.verdict == "contradicted"
    assert row.measured == pytest.approx(1, rel=0.02)


def test_a_wide_spread_is_inconclusive() -> None:
    """An interval on both sides of the threshold decides nothing."""
    dataset = double(lambda n, c: min(250 * c, 1000 * n**0.7), spread=0.1)
    assert verdict(dataset, "F6-double-servers").verdict == "inconclusive"


def test_on_a_small_pinned_host_a_doubling_without_cpus_is_not_judged() -> None:
    """Where n servers already used the CPUs there are, 2n could not have doubled."""
    dataset = double(budget="pinned", cpus=32, mysqld_cpus=lambda n, c: min(12.0 * n, 23.0))
    row = verdict(dataset, "F6-double-servers")
    assert row.verdict == "reproduced"
    judged, *shown, _ = row.reason.split("; ")
    assert "from 1 to 2 servers" in judged
    assert "not judged" not in judged
    assert "not judged" in " ".join(shown)
    assert "from 2 to 4 servers" in " ".join(shown)


def test_the_budget_is_not_blamed_on_the_software() -> None:
    """In `scaled` 8 servers have all the CPUs that 16 have: a loss of 16 is not testable."""
    row = verdict(double(lambda n, c: min(250 * c, min(n, 5) * 1000 - n)), "F6-peak")
    assert row.verdict == "not testable here"
    assert row.measured == 8
    assert "follows from the CPUs" in row.reason


def test_sixteen_servers_that_win_against_the_shares_count() -> None:
    """A clear win of 16 servers is a finding, since the shares give them no more than 8."""
    row = verdict(double(lambda n, c: min(250 * c, 1000 * n)), "F6-peak")
    assert (row.verdict, row.measured, row.low, row.high) == ("reproduced", 16, 16, 16)


def test_sixteen_servers_that_lose_to_four_contradict() -> None:
    """Four servers leave CPUs unused: if they beat 16 it is the software's answer."""
    dataset = double(lambda n, c: min(250 * c, 4000 if n == 4 else 1000 * min(n, 3)))
    assert verdict(dataset, "F6-peak").verdict == "contradicted"


def test_on_a_host_with_cpus_to_spare_a_loss_of_sixteen_contradicts() -> None:
    """Pinned, with CPUs left over at the peak of 8 servers, 16 losing is a finding."""
    dataset = double(lambda n, c: min(250 * c, min(n, 5) * 1000 - 20 * n), budget="pinned", cpus=64)
    assert verdict(dataset, "F6-peak").verdict == "contradicted"


def test_overload_compares_the_best_with_twice_its_clients() -> None:
    """A clear loss at twice the best clients is reproduced."""
    dataset = double(lambda n, c: 4000 * min(1, c / 64) * (0.9 if c > 64 else 1))
    row = verdict(dataset, "F6-overload")
    assert row.verdict == "reproduced"
    assert "best at 64 clients" in row.reason
    assert "with 128" in row.reason


def test_overload_that_never_comes_contradicts() -> None:
    """Throughput that stays as it was at every larger number of clients is no overload."""
    row = verdict(double(lambda n, c: 4000 * min(1, c / 64) - c / 100), "F6-overload")
    assert row.verdict == "contradicted"
    assert "within 3 %" in row.reason


def test_overload_on_a_flat_top_is_not_read_out_of_noise() -> None:
    """On a plateau the best is picked by noise, which must not look like a loss past it."""
    noise = {64: 1.02, 128: 0.99, 256: 1.0, 512: 0.99}
    dataset = double(lambda n, c: 4000 * noise.get(c, 0.5), spread=0.02, repeats=3)
    row = verdict(dataset, "F6-overload")
    assert row.verdict == "inconclusive"
    assert "as the best was picked among" in row.reason


def test_overload_that_comes_late_stays_open() -> None:
    """Flat at twice the best clients and lower at eight times: neither one nor the other."""
    dataset = double(lambda n, c: 4000 * min(1, c / 64) * (0.8 if c == 512 else 1) - c / 100)
    assert verdict(dataset, "F6-overload").verdict == "inconclusive"


def test_overload_past_the_measured_clients_is_inconclusive() -> None:
    """If the best is at the largest number of clients, nothing is known past it."""
    row = verdict(double(lambda n, c: 10.0 * c), "F6-overload")
    assert row.verdict == "inconclusive"
    assert "not measured" in row.reason


@pytest.mark.parametrize(
    ("peak", "expected"), [(32, "reproduced"), (64, "contradicted"), (8, "contradicted")]
)
def test_the_peak_of_one_server_is_compared_with_every_other(peak: int, expected: str) -> None:
    """On 256 CPUs, 32 clients must be clearly better than any other number."""
    dataset = double(lambda n, c: 1000 - 50 * abs(math.log2(c / peak)), budget="pinned", cpus=256)
    row = verdict(dataset, "F4-peak-clients")
    assert (row.verdict, row.measured) == (expected, peak)


def test_a_flat_peak_tells_which_clients_cannot_be_told_apart() -> None:
    """Where 16 to 64 clients are alike, that range is shown and nothing is decided."""
    dataset = double(lambda n, c: 1000 if 16 <= c <= 64 else 500, budget="pinned", cpus=256)
    row = verdict(dataset, "F4-peak-clients")
    assert (row.verdict, row.low, row.high) == ("inconclusive", 16, 64)


def test_clients_of_a_server_are_counted_in_its_own_knee() -> None:
    """In `scaled` the knee of one server stands for 32 clients, and the reason says so."""
    row = verdict(double(), "F7-doubling")
    assert row.verdict == "reproduced"
    assert "4 clients, the knee of one server here, stand for 32" in row.reason
    assert row.measured == pytest.approx(1, rel=0.02)


def test_p95_that_grows_with_the_servers_contradicts() -> None:
    """Twice the p95 at four servers is not the same p95."""
    row = verdict(double(p95=lambda n, c: 2.0 if n < 4 else 4.0), "F7-doubling")
    assert (row.verdict, round(row.measured, 2)) == ("contradicted", 2)


def test_p95_is_never_judged_finer_than_its_histogram() -> None:
    """A p95 within one bucket of the threshold is inconclusive, however many runs agree."""
    dataset = double(p95=lambda n, c: 1.24 if n > 1 else 1.0, spread=0.0)
    row = verdict(dataset, "F7-doubling")
    assert row.verdict == "inconclusive"
    assert row.high / row.low == pytest.approx(evidence.P95_STEP**2)


def test_equal_latency_past_saturation_is_not_credited() -> None:
    """Where 8 servers have all the CPUs of 16, equal p95 follows and is worth nothing."""
    row = verdict(double(clients=(1, 2, 4, 64, 128, 256)), "F7-8-vs-16")
    assert row.verdict == "not testable here"


def test_equal_latency_below_saturation_counts() -> None:
    """With few clients 8 servers are not full, and p95 may differ or not."""
    assert verdict(double(), "F7-8-vs-16").verdict == "reproduced"


def test_a_difference_of_latency_counts_also_past_saturation() -> None:
    """Nothing forces 16 servers to be slower than 8 at equal clients."""
    dataset = double(p95=lambda n, c: 2.0 if n == 16 and c >= 128 else 1.0)
    assert verdict(dataset, "F7-8-vs-16").verdict == "contradicted"


def test_values_of_the_brief_are_judged_on_its_own_machine() -> None:
    """On two EPYC 7742 a published p95 is judged; elsewhere it is shown."""
    fast: dict[str, Any] = {"p95": lambda n, c: 0.4, "budget": "pinned", "cpus": 256}
    assert verdict(double(**fast, model=BRIEF_MODEL), "F7-one").verdict == "reproduced"
    row = verdict(double(**fast), "F7-one")
    assert (row.verdict, round(row.measured, 2)) == ("not testable here", 0.4)


def test_failed_and_idle_runs_decide_nothing() -> None:
    """Runs with errors, and points with fewer clients than servers, are left out of verdicts."""
    dataset = double()
    wild = dataset.runs.copy()
    wild["run_id"] += "_wild"
    wild["qps"] *= 50
    wild["status"] = "errors: 12"
    idle = wild[wild["clients"] < wild["servers"]].assign(status="ok")
    both = replace(dataset, runs=pd.concat([dataset.runs, wild, idle], ignore_index=True))
    names = ["F6-double-servers", "F6-overload", "F7-doubling"]
    assert claims.judge(both, names, CLAIMS).equals(claims.judge(dataset, names, CLAIMS))


def test_tcp_runs_do_not_mix_in() -> None:
    """Runs over another transporter are another experiment."""
    dataset = double()
    other = dataset.runs.assign(transporter="tcp", qps=1e9)
    other["run_id"] += "_tcp"
    both = replace(dataset, runs=pd.concat([dataset.runs, other], ignore_index=True))
    assert claims.judge(both, SCOPE, CLAIMS).equals(claims.judge(dataset, SCOPE, CLAIMS))


def test_several_tests_share_one_confidence() -> None:
    """The confidence of each test makes 95 % for all of them."""
    assert evidence.confidence(1) == pytest.approx(0.95)
    assert evidence.confidence(4) ** 4 == pytest.approx(0.95)
