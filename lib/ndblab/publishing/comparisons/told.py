"""What the notebook of a comparison shows, one call for each output; it computes no result."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from IPython.display import HTML, Markdown, display

from ndblab.comparing import answer as answers
from ndblab.comparing import figure, judged, made
from ndblab.dataset.schema import file_name
from ndblab.dataset.sealed import ARCHIVE
from ndblab.formatting import count
from ndblab.publishing import show
from ndblab.publishing.comparisons import history
from ndblab.publishing.notebook import exhibit

if TYPE_CHECKING:
    from ndblab.dataset import Dataset


def answer(data: Dataset, within: float) -> None:
    """Show the answer, and what was compared."""
    sides = made.sides_of(data.manifest["asked"])
    said = answers.said(sides).replace("\n", "  \n")
    display(Markdown(f"**{answers.sentence(judged.judge(data, within), within)}**\n\n{said}"))


def forest(data: Dataset, within: float) -> None:
    """Show the three ratios with their intervals and blocks."""
    result, sides = judged.judge(data, within), made.sides_of(data.manifest["asked"])
    if not result.blocks:
        display(Markdown("There is no whole block yet."))
        return
    text = answers.sentence(result, within)
    drawn = figure.draw(data, result, map(sides.words, "ab"), within)
    display(drawn, metadata=exhibit.of_figure(exhibit.picture(made.NAME, text, text)))


def to_paste(data: Dataset) -> Markdown:
    """Show what turns A into B, ready to paste."""
    return Markdown(f"```\n{answers.to_paste(made.sides_of(data.manifest['asked']))}\n```")


def blocks(data: Dataset) -> None:
    """Show B over A block by block, as it was measured."""
    names = "queries/s", "p95 latency", "CPU time per query"
    columns = dict(zip(names, judged.blocks(data), strict=True))
    table = pd.DataFrame({name: pd.Series(np.exp(logs)) for name, logs in columns.items()})
    table.insert(0, "block", np.arange(1, len(table) + 1))
    show.table(table, "blocks")


def provenance(data: Dataset) -> None:
    """Show where the comparison comes from."""
    manifest, size = data.manifest, data.manifest["profile"]
    _, _, load = history.question(manifest)
    slices = data.slices
    facts = {
        "dataset": data.id,
        "measured": f"{manifest['started_utc']} to {manifest['finished_utc']}",
        "host": data.describe_host(),
        "engine": history.engine(manifest["versions"]),
        "design": manifest["asked"]["contrast"]["design"],
        "CPU budget": data.budget,
        "load": load,
        "slices": f"{len(slices)}, {count(int((slices['status'] != 'ok').sum()), 'slice')} left "
        f"out; seed {size['seed']}",
        "git commit": manifest.get("git_commit") or "unknown",
    }
    show.table(pd.DataFrame({"": facts}), "provenance", index=True, header=False)


def files(data: Dataset) -> Markdown:
    """Link to the raw tables."""
    raw = {
        "slices": "each slice, with its side, block and status",
        "intervals": "each second of each slice",
        "processes": "CPU time and memory of each process",
    }
    links = {file_name(name): what for name, what in raw.items()}
    links[ARCHIVE] = "raw logs and configuration"
    lines = [
        f"- [{file}]({data.id}/{file}): {what}"
        for file, what in links.items()
        if file in data.manifest["files"]
    ]
    return Markdown("\n".join(lines))


def configuration(data: Dataset) -> HTML:
    """Show the configuration exactly as it ran; each file can be unfolded."""
    texts = {name: text.decode("utf-8", "replace") for name, text in data.configs().items()}
    shown = [
        f"<details><summary>{html.escape(name)}</summary><pre>{html.escape(text)}</pre></details>"
        for name, text in texts.items()
    ]
    return HTML("\n".join(shown))
