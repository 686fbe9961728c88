"""Checks on throughput. The datasets are made up, never a measurement."""

from __future__ import annotations

import math

import pytest

from made_up import decided, double, verdict


def test_doubling_is_judged_where_the_shares_leave_room_for_it() -> None:
    """In `scaled` 1 to 2 and 2 to 4 decide; 4 to 8 is shown with its bound and not judged."""
    row = decided(double(), "F6-double-servers")
    assert row.verdict == "reproduced"
    assert "1.15 (1.14 to 1.16) from 4 to 8 servers" in row.reason
    assert "not judged: the CPUs allow at most 1.60" in row.reason
    assert row.low > 1.6


def test_a_missing_doubling_is_not_a_reproduced_one() -> None:
    """With 1 and 2 servers only, the half that was not measured keeps the verdict open."""
    row = decided(double(servers=(1, 2)), "F6-double-servers")
    assert row.verdict == "inconclusive"
    assert "missing: 4 servers" in row.reason


def test_doubling_that_fails_once_is_contradicted_and_shows_the_worst() -> None:
    """One doubling clearly below the threshold contradicts; the number shown is that one."""
    row = decided(double(lambda n, c: min(250 * c, min(n, 2) * 1000)), "F6-double-servers")
    assert row.verdict == "contradicted"
    assert row.measured == pytest.approx(1, rel=0.02)


def test_a_wide_interval_is_inconclusive() -> None:
    """An interval on both sides of the threshold decides nothing."""
    dataset = double(lambda n, c: min(250 * c, 1000 * n**0.7), spread=0.1)
    assert decided(dataset, "F6-double-servers").verdict == "inconclusive"


def test_on_a_small_pinned_host_a_doubling_without_cpus_is_not_judged() -> None:
    """If n servers already saturate the CPUs, 2n cannot double."""
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
    assert "determined by the available CPUs" in row.reason


def test_sixteen_servers_that_win_against_the_shares_count() -> None:
    """A clear win of 16 servers is a finding, since the shares give them no more than 8."""
    row = decided(double(lambda n, c: min(250 * c, 1000 * n)), "F6-peak")
    assert row.verdict == "reproduced"
    assert row.low > 1


def test_sixteen_servers_that_lose_to_four_contradict() -> None:
    """Four servers leave CPUs unused: if they beat 16 it is the software's answer."""
    dataset = double(lambda n, c: min(250 * c, 4000 if n == 4 else 1000 * min(n, 3)))
    assert decided(dataset, "F6-peak").verdict == "contradicted"


def test_on_a_host_with_cpus_to_spare_a_loss_of_sixteen_contradicts() -> None:
    """Pinned, with CPUs left over at the peak of 8 servers, 16 losing is a finding."""
    dataset = double(lambda n, c: min(250 * c, min(n, 5) * 1000 - 20 * n), budget="pinned", cpus=64)
    assert decided(dataset, "F6-peak").verdict == "contradicted"


def test_overload_compares_the_best_with_twice_its_clients() -> None:
    """A clear loss at twice the best clients is reproduced."""
    dataset = double(lambda n, c: 4000 * min(1, c / 64) * (0.9 if c > 64 else 1))
    row = verdict(dataset, "F6-overload")
    assert row.verdict == "reproduced"
    assert "best at 64 clients" in row.reason
    assert "with 128" in row.reason


def test_overload_that_never_comes_contradicts() -> None:
    """Throughput that stays flat at every larger number of clients is no overload."""
    row = verdict(double(lambda n, c: 4000 * min(1, c / 64) - c / 100), "F6-overload")
    assert row.verdict == "contradicted"
    assert "within 3 %" in row.reason


def test_overload_on_a_flat_top_is_not_read_out_of_noise() -> None:
    """On a plateau the best is picked by noise, which must not look like a loss past it."""
    noise = {64: 1.02, 128: 0.99, 256: 1.0, 512: 0.99}
    dataset = double(lambda n, c: 4000 * noise.get(c, 0.5), spread=0.02, repeats=3)
    row = verdict(dataset, "F6-overload")
    assert row.verdict == "inconclusive"
    assert "as the best is one of" in row.reason


def test_overload_that_comes_late_stays_open() -> None:
    """Flat at twice the best clients and lower at eight times decides nothing."""
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
    row = decided(dataset, "F4-peak-clients")
    assert (row.verdict, row.measured) == (expected, peak)


def test_a_flat_peak_shows_its_range_of_clients() -> None:
    """Where 16 to 64 clients are alike, that range is shown and nothing is decided."""
    dataset = double(lambda n, c: 1000 if 16 <= c <= 64 else 500, budget="pinned", cpus=256)
    row = verdict(dataset, "F4-peak-clients")
    assert (row.verdict, row.low, row.high) == ("inconclusive", 16, 64)
