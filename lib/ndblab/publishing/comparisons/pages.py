"""Pages of comparisons: the one in a report, and the trend of a watched baseline.

It measures and judges nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import writing
from ndblab.publishing.comparisons import figure
from ndblab.publishing.report import page

if TYPE_CHECKING:
    from ndblab.publishing.comparisons.history import History

PLACE = "comparisons.html"
"""Where the page is in a report."""
_TEMPLATE = "comparisons.html.j2"


def write_in_report(site: Path, histories: Sequence[History]) -> None:
    """Write the page of all comparisons into a report; nothing if there are none."""
    if not histories:
        return
    (site / "figures").mkdir(exist_ok=True)
    shown = []
    for number, history in enumerate(histories, 1):
        src = f"figures/comparison-{number}.png"
        (site / src).write_bytes(figure.png(history.entries, history.within))
        shown.append(_shown(history, src))
    page.write(site, PLACE, _TEMPLATE, title="Your own comparisons", lead="", histories=shown)


def write_trend(file: Path, name: str, lead: str, history: History, within: float) -> Path:
    """Write the page of a watched baseline, which needs no other file; return it.

    Parameters
    ----------
    lead : the answer, in a sentence or two.
    within : distance from equal, as a share, that counted as equivalent.
    """
    picture = base64.b64encode(figure.png(history.entries, within)).decode()
    shown = [_shown(history, f"data:image/png;base64,{picture}")]
    with writing(file.parent):
        page.write(
            file.parent, file.name, _TEMPLATE, alone=True,
            title=f"Watched: {name}", lead=lead, histories=shown,
        )  # fmt: skip
    return file


def _shown(history: History, src: str) -> dict[str, object]:
    """Return a history as the page shows it; `src` is its picture."""
    return {
        "heading": f"A: {history.a}. B: {history.b}",
        "load": history.load,
        "src": src,
        "alt": figure.describe(history.entries),
        # Readers want the last comparison first.
        "entries": history.entries[::-1],
    }
