"""The pages of the report: their common frame, and the format of values on them.

It knows no experiment.
"""

from __future__ import annotations

import functools
import math
from pathlib import Path

from ndblab.formatting import exact, plain, sentence, sentences
from ndblab.judging import verdict
from ndblab.publishing import terminal

TEMPLATES = Path(__file__).parent / "templates"
# Word, symbol and class of each verdict: no meaning hangs on colour alone.
VERDICTS = {
    verdict.REPRODUCED: ("\N{CHECK MARK}", "reproduced"),
    verdict.CONTRADICTED: ("\N{MULTIPLICATION X}", "contradicted"),
    verdict.DIFFERS: ("\N{NOT EQUAL TO}", "differs"),
    verdict.INCONCLUSIVE: ("\N{ALMOST EQUAL TO}", "inconclusive"),
    verdict.BY_CONSTRUCTION: ("\N{IDENTICAL TO}", "by-construction"),
    verdict.NOT_TESTABLE: ("\N{EN DASH}", "not-testable"),
    verdict.NOT_COMPARABLE: ("\N{WHITE CIRCLE}", "not-comparable"),
    verdict.UNKNOWN: ("?", "unknown"),
}
_UNITS = {"ratio": "times", "percent": "%"}
_BYTES = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


@functools.cache
def _environment():
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["count"] = exact
    for function in (terminal.interval, number, sentence, sentences, size, unit):
        environment.filters[function.__name__] = function
    environment.globals |= {"verdicts": VERDICTS, "inline": text}
    return environment


def write(site: Path, place: str, template: str, alone: bool = False, **values: object) -> None:
    """Write one page at `place`, a path in the site; with `alone`, it needs no other file."""
    written = render(template, root="../" * place.count("/"), alone=alone, **values)
    file = site / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(written.rstrip() + "\n", encoding="utf-8")


def render(template: str, **values: object) -> str:
    """Return a template with its values."""
    return _environment().get_template(template).render(**values)


def text(name: str) -> str:
    """Return a file that all pages use: the style sheet, or the script."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def number(value: object) -> str:
    """Write a number as the figures do; other values as they are."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return plain(float(value)) if math.isfinite(value) else ""


def unit(name: str) -> str:
    """Write a claim's unit as it is read after a number."""
    return _UNITS.get(name, name)


def size(value_bytes: float) -> str:
    """Write a size in bytes with a unit that suits it."""
    for factor, unit in _BYTES:
        if value_bytes >= factor:
            return f"{number(value_bytes / factor)} {unit}"
    return f"{value_bytes:.0f} bytes"


def times(started_utc: str, finished_utc: str) -> str:
    """Write when something was measured, to the minute."""
    day, _, start = started_utc.partition("T")
    last, _, end = finished_utc.partition("T")
    return f"{day} {start[:5]} to {'' if day == last else f'{last} '}{end[:5]} UTC"
