"""A long run with writes: the dip when a checkpoint starts, and what checkpoints take in all."""

from __future__ import annotations

import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes

from ndblab.error import MissingData
from ndblab.experiments.stability import checkpoint_cost as cost
from ndblab.experiments.stability.checkpoint_cost import Repeats, Run
from ndblab.experiments.stability.checkpoints import LEAST_GAP_S
from ndblab.figures import forest, published, selection, sheet, style, timeline
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import QPS
from ndblab.formatting import count, less_or_more, listed, percent, plain
from ndblab.statistics.estimate import Estimate

_KEPT = "whole over\noutside"


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the dip around starts, the ratio of the cycles, and below the longest good run."""
    repeats = cost.of_longest(sampled(tables), tables)
    if sheet.rows_of(figure, 2, 1) == 1:
        axes = figure.subplot_mosaic(
            [["dip", "kept"], ["run", "run"]], width_ratios=(1.15, 1), height_ratios=(1.2, 1)
        )
    else:
        axes = figure.subplot_mosaic([["dip"], ["kept"], ["run"]], height_ratios=(1.2, 1, 1))
    _dip(axes["dip"], repeats)
    _ratio(axes["kept"], repeats, anchors)
    run = repeats.longest
    unit_s, unit = timeline.unit(float(run.row["duration_s"]))
    ax, values = axes["run"], run.samples["qps"]
    timeline.draw(ax, run.samples["t_s"] / unit_s, values, style.THROUGHPUT)
    timeline.shade(ax, [(begin / unit_s, end / unit_s) for begin, end in run.spans])
    QPS.vertical(ax, values.max())
    ax.set_ylim(0, 1.12 * values.quantile(0.995))
    ax.set_xlabel(f"Time after the warm-up of the longest run, {unit}")
    notes = [f"Shaded: local checkpoints. {_checkpoints(run)}" if run.spans else _checkpoints(run)]
    if _kept(repeats) is not None:
        every = count(sum(len(run.spans) for run in repeats.runs), "checkpoint")
        notes.append(
            f"Circles: cycles of {count(len(repeats.runs), 'run')} with {every}, each from the "
            "middle of the gap before a checkpoint to that after it. Checkpoints less than "
            f"{LEAST_GAP_S:g} s apart share a cycle. Whiskers: 95 % confidence interval."
        )
        notes += published.note(anchors)
    return Head(_title(repeats), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the dip, what checkpoints take, and the longest run."""
    repeats = cost.of_longest(sampled(tables), tables)
    run = repeats.longest
    servers, clients = selection.in_words(run.row)
    words = [
        f"{_title(repeats)}.",
        f"Throughput in {len(run.samples)} seconds of one run of {run.row['workload']} with "
        f"{servers} and {clients}: mean {plain(run.samples['qps'].mean())} queries/s. "
        f"{_checkpoints(run)}",
    ]
    if (kept := _kept(repeats)) is not None:
        value, low, high = (f"{x:.3f}" for x in kept)
        interval = f" ({low} to {high})" if kept.bounded else ""
        runs = count(len(repeats.runs), "run")
        words.append(f"Throughput of {runs}, over that outside checkpoints: {value}{interval}.")
    return [*words, *published.sentence(anchors, by_series=True)]


def sampled(tables: Tables) -> pd.DataFrame:
    """Return the good runs with intervals; MissingData if there is none."""
    runs = selection.good(tables["runs"])
    runs = runs[runs["run_id"].isin(tables["intervals"]["run_id"].unique())]
    if runs.empty:
        raise MissingData("no interval of a good run")
    return runs


def _kept(repeats: Repeats) -> Estimate | None:
    """Return the ratio of the verdict; None without a cycle."""
    try:
        return cost.kept(repeats.throughput)
    except MissingData:
        return None


def _title(repeats: Repeats) -> str:
    """Say how deep the dip is, and what checkpoints take in all."""
    kept, dip = _kept(repeats), cost.around_start(repeats)
    if kept is None or dip.empty:
        return f"{_checkpoints(repeats.longest)[:-1]}, and no cycle can be compared"
    number = count(len(repeats.throughput), "cycle")
    at_start = dip.loc[dip["second"] == 0, ["ratio", "low", "high"]]
    first = [Estimate(*row) for row in at_start.to_numpy()]
    if first and first[0].high < 1 and kept.high < 1:
        fall = 100 * (1 - first[0].value)
        return (
            f"Throughput fell by {fall:.0f} % as a checkpoint started and by {_loss(kept)} "
            f"overall, in {number}"
        )
    said = [f"{less_or_more(*it, 'lower', 'higher')} as a checkpoint started" for it in first]
    said.append(f"{less_or_more(*kept, 'lower', 'higher')} overall")
    return f"Throughput was {listed(said)}, in {number}"


def _loss(kept: Estimate) -> str:
    """Write what checkpoints take in all: "4.1 % (0.69 to 7.3 %)"."""
    value, least, most = (100 * (1 - part) for part in (kept.value, kept.high, kept.low))
    interval = f" ({percent(least)} to {percent(most)} %)" if kept.bounded else ""
    return f"{percent(value)} %{interval}"


def _checkpoints(run: Run) -> str:
    if not run.spans:
        return "No local checkpoint ran."
    number = count(len(run.spans), "local checkpoint")
    return f"{number} took {100 * run.share:.0f} % of the time."


def _dip(ax: Axes, repeats: Repeats) -> None:
    """Draw throughput around the start of a checkpoint, over that outside."""
    table = cost.around_start(repeats)
    if table.empty:
        return sheet.nothing(ax, "no whole cycle of a checkpoint")
    table[["ratio", "low", "high"]] *= 100
    ax.axhline(100, color=style.INK, lw=1.1, zorder=1)
    ax.axvline(0, color=style.INK, lw=0.9, ls=":", zorder=1)
    (
        style.plot(table.assign(middle=table["second"] + 0.5), x="middle", y="ratio")
        .add(so.Line(color=style.THROUGHPUT, marker="o", pointsize=5))
        .add(so.Range(color=style.THROUGHPUT, linewidth=1.4), ymin="low", ymax="high")
        .limit(x=(-cost.BEFORE_S, cost.AFTER_S), y=(0, max(120, 1.1 * table["ratio"].max())))
        .label(x="Seconds since it started", y="Throughput,\n% of that outside")
        .on(ax)
        .plot()
    )
    ax.set_title("Around the start of a checkpoint")


def _ratio(ax: Axes, repeats: Repeats, anchors: Anchors) -> None:
    """Draw the ratio of each cycle of all runs, and their mean with its interval."""
    kept = _kept(repeats)
    if kept is None:
        return sheet.nothing(ax, "no whole cycle of a checkpoint")
    cycles = repeats.throughput
    ratios = pd.DataFrame({"name": _KEPT, "ratio": cycles["whole"] / cycles["outside"]})
    rows = pd.DataFrame([[_KEPT, *kept]], columns=["name", "ratio", "low", "high"])
    rows["text"] = forest.words(next(rows.itertuples())).replace(" (", "\n(")
    forest.draw(ax, rows, "Throughput, ratio", each=ratios, anchors={_KEPT: anchors})
    ax.set_title(f"The {count(len(cycles), 'cycle')} that can be compared")


FIGURES = {
    "long-run": Entry(
        "How much throughput do local checkpoints take from a long run?",
        paint, describe, ("runs", "intervals", "events"), height_in=5.0, under_quotas=True,
    ),
}  # fmt: skip
