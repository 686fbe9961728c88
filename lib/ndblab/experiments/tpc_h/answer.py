"""The answer about TPC-H: which queries pushed joins make faster, and how much."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.experiments.tpc_h import analysis as pushdown
from ndblab.experiments.tpc_h.database import scale_factor
from ndblab.formatting import listed, plain
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause, within_one_start


@answers("tpc-h")
def gain(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Count the queries with pushed joins, those made faster or slower by them, and the rest."""
    compared = pushdown.table(dataset.slices, dataset.runs, dataset.pushed)
    slices = [recording.slices for recording in (*dataset.earlier, dataset)]
    if dataset.earlier:
        compared = pushdown.together(compared, slices)
    pushed = compared[compared["is_pushed"]]
    everything = f"{len(compared)} queries" if len(compared) > 1 else "the one query"
    wrong = pushdown.wrong(dataset.slices, dataset.runs)
    size = dataset.manifest["profile"]
    scale = f", at scale factor {scale_factor(size['tables'] * size['table_size']):g}"
    said: list[Clause | str] = [*wrong]
    for gained in (pushdown.FASTER, pushdown.SLOWER):
        mine = pushed[pushed["gain"] == gained]
        if len(mine):
            said.append(_extreme(mine, gained, len(compared)) + scale + _held(slices))
    unsure = pushed.loc[(pushed["gain"] == pushdown.OPEN) & pushed["low"].notna(), "query"]
    if len(unsure):
        queries = listed(f"Q{query}" for query in unsure)
        said.append(f"{queries} showed no clear change")
    for row in compared[compared["ratio"].isna()].itertuples():
        if row.why not in wrong:
            said.append(f"Q{row.query} has no ratio: {row.why or 'a recording lacks it'}")
    said.append(f"NDB executed joins of {len(pushed)} of {everything} itself")
    said += [] if wrong else ["all results match InnoDB's"]
    slower = pushed[pushed["gain"] == pushdown.SLOWER]
    if len(slower):
        worst = slower.loc[slower["ratio"].idxmin()]
        said.append(
            Advice(
                "Leave ndb_join_pushdown on; set it off for a session whose query is slower with "
                f"it (Q{worst['query']}: {plain(1 / worst['ratio'])} times as long)"
            )
        )
    said.append(
        Clause(
            "H-q20",
            "RonDB 22.10.4 is as much faster than 21.04.17 in Q20 as published",
            "RonDB 22.10.4 is not as much faster than 21.04.17 in Q20 as published",
            "what RonDB 22.10.4 gains over 21.04.17 in Q2 and in Q20",
        )
    )
    return said


def _held(slices: Sequence[pd.DataFrame]) -> str:
    """Say of how many recordings a ratio is, or that it is from a single cluster start."""
    if len(slices) > 1:
        return f", in {len(slices)} recordings together"
    names = set(slices[0]["contrast"].astype(str))
    return within_one_start(slices[0], *names)


def _extreme(mine: pd.DataFrame, gained: str, every: int) -> str:
    """Say how many queries gain or lose, and which of them most."""
    most = mine.loc[(mine["ratio"].idxmax if gained == pushdown.FASTER else mine["ratio"].idxmin)()]
    ends = most["ratio"], most["low"], most["high"]
    if gained == pushdown.SLOWER:
        ends = 1 / ends[0], 1 / ends[2], 1 / ends[1]
    verb, compared = ("sped up", "fast") if gained == pushdown.FASTER else ("slowed", "long")
    times = "{} times as {} ({} to {})".format(plain(ends[0]), compared, *map(plain, ends[1:]))
    query = f"Q{most['query']}"
    which = f"{len(mine)} of {every} queries of TPC-H, {query} most" if len(mine) > 1 else query
    return f"joins in the data nodes {verb} {which}: {times}"
