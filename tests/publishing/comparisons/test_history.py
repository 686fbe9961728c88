"""The user's own comparisons, told together: history, page of a report, notebook."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest
from matplotlib.text import Text

import made_up_comparison
from ndblab import dataset
from ndblab.comparing import made, sides
from ndblab.comparing.knobs import INITIAL, MY_CNF, UNLISTED, Knob
from ndblab.comparing.sides import Setting, Sides
from ndblab.publishing import notebook as notebooks
from ndblab.publishing.comparisons import figure, history, notebook, pages
from ndblab.publishing.notebook import exhibit


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A setting compared under two releases, another one once, and a folder that is no dataset."""
    folder = tmp_path_factory.mktemp("runs")
    for seed, version in enumerate(("9.6.0", "9.7.4"), 1):
        made_up_comparison.write(folder, seed=seed, versions={"ndb": version})
    made_up_comparison.write(folder, ("servers=1", "servers=2", "ndb_batch_size=64K"))
    (folder / made.NAME / "damaged").mkdir()
    return folder / made.NAME


def test_the_same_sides_compared_again_belong_together(runs: Path) -> None:
    """By time, each with its engine; what both sides have is part of the load."""
    by_sides = {(one.a, one.b): one for one in history.read(runs)}
    assert by_sides.keys() == {("the default", "ndb_batch_size=65536"), ("servers=1", "servers=2")}
    again = by_sides["the default", "ndb_batch_size=65536"]
    assert [entry.engine for entry in again.entries] == ["9.6.0", "9.7.4"]
    assert all(entry.outcome == "faster" for entry in again.entries)
    assert "ndb_batch_size=65536" in by_sides["servers=1", "servers=2"].load


def test_two_engines_are_named_by_side() -> None:
    """Which release is B's is what such a comparison is about."""
    assert history.engine({"ndb": "9.6.0", "second_ndb": "9.7.4"}) == "A 9.6.0, B 9.7.4"


def test_without_comparisons_a_report_has_no_page_of_them(tmp_path: Path) -> None:
    """Nor does a lab that has compared nothing fail."""
    assert history.read(tmp_path / "none") == []
    pages.write_in_report(tmp_path, [])
    assert list(tmp_path.iterdir()) == []


def test_the_page_shows_each_comparison_and_a_picture(runs: Path, tmp_path: Path) -> None:
    """The sides as they were typed, escaped; the last comparison first."""
    pages.write_in_report(tmp_path, history.read(runs))
    text = (tmp_path / pages.PLACE).read_text()
    assert "A: the default. B: ndb_batch_size=65536" in text
    assert text.index("<td>9.7.4</td>") < text.index("<td>9.6.0</td>")
    assert len(list((tmp_path / "figures").glob("*.png"))) == 2


def test_a_page_shades_the_band_of_the_user(runs: Path, tmp_path: Path, monkeypatch) -> None:
    """What counted as equivalent is what its title rests on."""
    shaded = []
    monkeypatch.setattr(history, "band", lambda data: 0.05)
    monkeypatch.setattr(figure, "png", lambda entries, within: shaded.append(within) or b"")
    pages.write_in_report(tmp_path, history.read(runs))
    assert set(shaded) == {0.05}


def test_intervals_stand_below_each_other_with_their_host(runs: Path) -> None:
    """Where there are several hosts, the label says which."""
    first, *_ = (one for one in history.read(runs) if len(one.entries) == 2)
    entries = [first.entries[0], dataclasses.replace(first.entries[1], host="another")]
    [ax] = figure.draw(entries).axes
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert [label.partition(", ")[2] for label in labels] == ["9.6.0, host 1", "9.7.4, host 2"]


def test_a_history_says_what_counts_as_equal_and_what_has_no_value(runs: Path) -> None:
    """The band is that of the user; a comparison that was ended at once has its row."""
    first, *_ = (one for one in history.read(runs) if len(one.entries) == 2)
    none = dataclasses.replace(first.entries[1], ratio=math.nan, low=math.nan, high=math.nan)
    drawn = figure.draw([first.entries[0], none], within=0.2)
    said = {text.get_text().replace("\xa0", " ") for text in drawn.findobj(Text)}
    assert "no whole block" in said
    assert any("within 20 % of equal" in text for text in said)
    assert not any("nan" in text for text in said)


def test_a_comparison_has_a_notebook_beside_its_dataset(runs: Path) -> None:
    """Executed, with the answer first, a figure, the difference to paste, links that lead, and the
    configuration as it ran."""
    [first] = (one for one in history.read(runs) if len(one.entries) == 2)
    data = dataset.read(runs / first.entries[0].dataset)
    file = notebook.write(data, 0.02)
    assert file == data.path.with_name(f"{data.id}.ipynb")
    content = notebooks.read(file)
    outputs = [out for cell in content.cells for out in cell.get("outputs", [])]
    texts = [out["data"].get("text/markdown", "") for out in outputs if "data" in out]
    assert texts[0].startswith("**B is ")
    assert any("SET PERSIST ndb_batch_size" in text for text in texts)
    assert len(list(exhibit.pictures(content))) == 1
    [links] = [text for text in texts if "](" in text]
    for name in ("slices.csv", "logs.tar.xz"):
        assert f"({data.id}/{name})" in links
        assert (file.parent / data.id / name).exists()
    shown = outputs[-1]["data"]["text/html"]
    assert "<summary>config.ini</summary>" in shown
    assert "# &lt;all&gt;\n\nNoOfReplicas=2" in shown


def test_sides_are_read_back_from_a_manifest() -> None:
    """Also a setting that only the installed programs know, and what both sides have."""
    unlisted = Knob("some_variable", MY_CNF, "mysqld", "", INITIAL, UNLISTED)
    listed = sides.parse(["ndb_batch_size=64K", "servers=2", "servers=1"])
    asked = Sides(listed.a, (*listed.b, Setting(unlisted, "x")), listed.both)
    assert made.sides_of(made.asked(asked)) == asked
