"""The minutes that pages give for a measurement are those that the lab will say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ndblab.design import catalogue
from ndblab.measuring import measurement
from ndblab.publishing import manual

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"\./lab reproduce --(figure|experiment) ([\w-]+)`.*\| (\d+) \|$", re.MULTILINE)
COMMAND = re.compile(r"\./lab reproduce --(figure|experiment) ([\w-]+) +.*?(\d+) min", re.MULTILINE)


def promised() -> list[tuple[str, str, int]]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    tasks = (ROOT / "tasks.py").read_text(encoding="utf-8")
    promises = [*ROW.findall(text), *COMMAND.findall(text), *COMMAND.findall(tasks)]
    promises += COMMAND.findall(manual.overview())
    return sorted({(kind, name, int(minutes)) for kind, name, minutes in promises})


def test_pages_give_minutes() -> None:
    """The test below looks at something."""
    assert ("figure", "6", 10) in promised()


@pytest.mark.parametrize(("kind", "name", "minutes"), promised())
def test_minutes_are_those_of_the_plan(kind: str, name: str, minutes: int) -> None:
    """Of the profile that is measured if none is named."""
    every = catalogue.every().values()
    experiment = catalogue.find(name) if kind == "experiment" else next(
        known for known in every if name in known.figures
    )  # fmt: skip
    said = measurement.expected(experiment, experiment.size("quick"), None)
    assert f"{minutes} min" in said
