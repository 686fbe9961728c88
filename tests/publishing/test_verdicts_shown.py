"""Verdicts of the recorded datasets, as README, page of results, site and terminal show them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from drawn import written
from ndblab.figures import forest
from ndblab.judging import publication, verdict
from ndblab.measuring import measurement, recorded
from ndblab.publishing import effects, rendering, terminal, verdict_tables


def test_the_readme_and_the_results_say_what_the_recorded_datasets_do(verdicts):
    """Findings, tally and page are written by `./lab render`, not by hand."""
    every = verdict_tables.with_statements(verdicts)
    readme = rendering.README.read_text()
    assert readme.count("](notebooks/") >= 6
    early = readme.partition("    ./lab")[0]
    assert f"decide <!-- decided -->{verdict_tables.decided(every)}<!" in early
    assert rendering.with_findings(readme, every) == readme
    assert rendering.results(every) == rendering.RESULTS.read_text()


def test_the_results_say_why_a_claim_could_not_be_tested(verdicts):
    """Each with its condition; one that has had a single cluster start is marked."""
    every = verdict_tables.with_statements(verdicts)
    once = [verdict.INCONCLUSIVE, f"1.1 times; {verdict.ONE_START}"]
    every.loc[every["id"] == "T-top", ["verdict", "reason"]] = once
    before, _, after = rendering.results(every).partition(
        "## Claims without a verdict on the source"
    )
    ruled_out = every[every["verdict"].isin(["not testable here", "by construction"])]
    for row in ruled_out.itertuples():
        assert f"(`{row.id}`) | {row.verdict} | {row.reason.partition(';')[0]}" in after
        assert f"(`{row.id}`)" not in before
        if row.verdict == verdict.BY_CONSTRUCTION:
            [line] = [line for line in after.splitlines() if f"(`{row.id}`)" in line]
            assert line.endswith(f"; measured: {terminal.measured(row)} |")
    [line] = [line for line in before.splitlines() if "(`T-top`)" in line]
    assert "**inconclusive**, one cluster start only" in line


def test_the_results_name_conditions_and_hosts_beside_verdicts(verdicts):
    """A condition with its number, and the hosts where recordings are of different kinds."""
    before, _, _ = rendering.results(verdict_tables.with_statements(verdicts)).partition(
        "## Claims without a verdict on the source"
    )
    rows = {row.id: row for row in verdicts.itertuples()}
    hosts = " on AMD EPYC and Intel(R) Xeon(R) Processor"
    for name, words in {
        "R-nosql": (hosts, "condition: no quota divides the 2 CPUs"),
        "F9-threads": (hosts, "condition: the data nodes chose threads for 32 CPUs"),
    }.items():
        [line] = [line for line in before.splitlines() if f"(`{name}`)" in line]
        assert all(word in line for word in words)
        assert all(word in rows[name].reason for word in words)


def test_the_results_say_what_a_ratio_is_of(verdicts):
    """1.7 times the share of local reads is not 1.7 times the throughput."""
    before, _, _ = rendering.results(verdict_tables.with_statements(verdicts)).partition(
        "## Claims without a verdict on the source"
    )
    [line] = [line for line in before.splitlines() if "(`C-read-backup`)" in line]
    assert "| share of local reads with READ_BACKUP=1 / with READ_BACKUP=0: " in line


@pytest.mark.parametrize(
    ("loads", "told"),
    [
        (("32 clients", "32 clients"), ", with 32 clients"),
        (("32 clients against 128", "32 clients against 128"), ", with 32 clients against 128"),
        (("32 clients", "32 clients against 128"), ""),
        (("32 clients", "128 clients"), ""),
    ],
)
def test_the_results_tell_a_load_only_if_all_recordings_had_it(verdicts, loads, told):
    """The clients of one side are not those of the other, nor are those of one recording."""
    every = verdict_tables.with_statements(verdicts)
    reason = "; ".join(f"1.1 times (with {load}) (inconclusive)" for load in loads)
    every.loc[every["id"] == "T-shm-gain", ["verdict", "reason"]] = [verdict.INCONCLUSIVE, reason]
    [line] = [x for x in rendering.results(every).splitlines() if "(`T-shm-gain`)" in x]
    measured = line.split(" | ")[-1]
    assert measured.partition(")/qps(UseShm=0): ")[2].partition(";")[0].endswith(f"){told}")


@pytest.mark.parametrize("said", ["is reproduced", "differs here"])
def test_the_results_say_where_recordings_agree_that_decide_nothing_together(verdicts, said):
    """That is another doubt than recordings of which none decides."""
    every = verdict_tables.with_statements(verdicts)
    reason = f"1; each of 2 recordings alone {said}, but together they have too wide"
    every.loc[every["id"] == "B-redo", ["verdict", "reason"]] = [verdict.INCONCLUSIVE, reason]
    [line] = [x for x in rendering.results(every).splitlines() if "(`B-redo`)" in x]
    assert f"**inconclusive**, though each of 2 recordings alone {said} |" in line


def test_the_results_say_at_what_load_and_against_which_threshold(verdicts):
    """A ratio that grows with clients, and a bound that no source states, are read with them."""
    before, _, _ = rendering.results(verdict_tables.with_statements(verdicts)).partition(
        "## Claims without a verdict on the source"
    )
    for name, end in {
        "R-nosql": "), with 64 clients |",
        "A-host-loss": "query: 23 s; at most 10 s wanted (the lab's threshold) |",
        "C-location": " 128 clients; at least 0.95 wanted (the lab's threshold) |",
        "T-shm-gain": "); published: 1.2 (1.15 to 1.25 counts as equal) |",
        "A-arbitration": "| 0 partitions |",
    }.items():
        [line] = [line for line in before.splitlines() if f"(`{name}`)" in line]
        assert line.endswith(end), line


def test_the_picture_of_the_readme_shows_the_verdicts(verdicts):
    """Its rows are those of the claims, so that it agrees with every sentence beside it."""
    assert str(effects.PICTURE.relative_to(recorded.ROOT)) in rendering.README.read_text()
    assert effects.is_current(verdicts, publication.claims())
    shown = effects.table(verdicts, publication.claims())
    assert f" of {len(shown)} testable effects" in effects.title(shown)
    changed = verdicts.assign(measured=verdicts["measured"] * 1.1)
    assert not effects.is_current(changed, publication.claims())


def test_no_interval_of_the_picture_hides_in_its_dot(verdicts):
    """Small effects have an axis of their own, on which their intervals are wider than a dot; one
    large effect may be that certain."""
    shown = effects.table(verdicts, publication.claims())
    figure = effects.draw(shown, publication.claims())
    figure.draw_without_rendering()
    hidden, drawn = [], 0
    for ax in figure.axes:
        names = {label.get_text() for label in ax.get_yticklabels()}
        for row in shown[shown["name"].isin(names)].itertuples():
            ends = ax.transData.transform([(row.low, 0), (row.high, 0)])[:, 0]
            drawn += 1
            if 72 / figure.dpi * (ends[1] - ends[0]) <= 8:
                hidden.append(row.id)
    assert len(figure.axes) == 2
    assert drawn == len(shown)
    assert len(hidden) <= 1


def test_the_readme_says_of_the_ndb_api_what_its_picture_shows(verdicts):
    """The ratio and both ends of its interval, of all recordings, as written beside the dot."""
    shown = effects.table(verdicts, publication.claims())
    [row] = shown[shown["id"] == "R-nosql"].itertuples()
    numbers = forest.words(row)
    assert numbers in written(effects.draw(shown, publication.claims()))
    readme = rendering.README.read_text(encoding="utf-8")
    [line] = [line for line in readme.splitlines() if "(notebooks/13_api_ceiling.ipynb)" in line]
    ratio, low, high = re.findall(r"[\d.]+", numbers)
    assert re.search(rf" {ratio} times .*\({low} to {high}, together\)", line)


def test_claims_are_listed_on_a_line_each(verdicts):
    """Without reasons, which would hide the verdicts; their tally comes last."""
    lists, _, tally = terminal.every(verdicts, recorded.every()).rpartition("\n\n")
    lines = lists.splitlines()
    rows = [line for line in lines if line.startswith(verdict.WORDS)]
    assert len(rows) == len(publication.claims())
    assert "claims, " in tally


def test_terminal_site_and_readme_have_the_same_tally(
    verdicts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Word for word; each claim is in it, or among the readings."""
    monkeypatch.setattr(verdict_tables, "every", lambda: verdicts)
    monkeypatch.setattr(rendering, "_published", list)
    monkeypatch.setattr(measurement, "RUNS", tmp_path / "none")
    site: list[tuple[object, ...]] = []
    monkeypatch.setattr(rendering.report, "write", lambda *given: site.append(given))
    _, _, paragraph = terminal.every(verdicts, recorded.every()).rpartition("\n\n")
    tally = " ".join(paragraph.split())
    [numbers] = re.findall(r"^Of (\d+) claims, (\d+) are readings .* other (\d+) rest", tally)
    every, readings, others = map(int, numbers)
    assert every == readings + others == len(verdicts)
    rendering.write_report(tmp_path / "site")
    assert tally in [given for given in site[0] if isinstance(given, str)]
    stated = verdict_tables.with_statements(verdicts)
    readme = rendering.with_findings(rendering.README.read_text(encoding="utf-8"), stated)
    assert tally in readme.replace("`", "")
