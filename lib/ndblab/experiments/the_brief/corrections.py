"""Contradictions within and between the sources, each with the arithmetic that shows it.

It corrects no source: what the lab does about a row is its `consequence`.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from ndblab.experiments.the_brief import correction_results, correction_setup  # noqa: F401  they register arithmetic
from ndblab.experiments.the_brief.correction_facts import CHECKS, Facts
from ndblab.judging import publication
from ndblab.machine import host
from ndblab.planning import deployment, profile


def facts_of() -> Facts:
    """Gather the published facts to check corrections against; LabError if a file is damaged."""
    machine, size = host.load(publication.FOLDER / "host.json"), profile.get("brief")
    shape = deployment.Shape(
        max(size.servers), size.rows, max(size.clients), places=deployment.Places(brief=True)
    )
    return Facts(
        claims={claim.id: claim for claim in publication.claims()},
        anchors=tuple(publication.anchors()),
        table={item.item: item.value for rows in publication.tables().values() for item in rows},
        brief_host=machine,
        brief_plan=deployment.make(machine, shape),
    )


def check(
    rows: Iterable[publication.Correction] | None = None, facts: Facts | None = None
) -> pd.DataFrame:
    """Check for each correction that the sources differ as it says.

    Parameters
    ----------
    rows, facts : the published ones unless given.

    Returns
    -------
    Columns id, source, says, but, consequence; `holds`, whether the arithmetic confirms the row;
    `arithmetic`, one line. A row without arithmetic or with unreadable numbers does not hold, and
    the line says why.
    """
    facts = facts_of() if facts is None else facts
    shown = [_row(row, facts) for row in (publication.corrections() if rows is None else rows)]
    columns = ["id", "source", "says", "but", "consequence", "holds", "arithmetic"]
    return pd.DataFrame(shown, columns=columns).astype({"holds": bool})


def _row(row: publication.Correction, facts: Facts) -> tuple[object, ...]:
    function = CHECKS.get(row.id)
    if function is None:
        holds, line = False, "no arithmetic is registered for it"
    else:
        try:
            holds, line = function(row, facts)
        except (ValueError, IndexError, KeyError, TypeError, ZeroDivisionError) as error:
            holds, line = False, f"the arithmetic could not be done: {error!r}"
    return row.id, row.source, row.says, row.but, row.consequence, bool(holds), line
