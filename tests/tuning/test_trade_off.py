"""What finalists change besides the goal, from a dataset with known truths."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from matplotlib.figure import Figure

from ndblab.error import MissingData
from ndblab.figures import sheet
from ndblab.publishing import drawing
from ndblab.tuning import answer, outcome, space, trade_off
from ndblab.tuning.outcome import Finalist, Outcome
from tuning import made_up_search
from tuning.made_up_search import Truth
from tuning.test_answer import BOTH, wanted

SMALL = space.without(BOTH, "ndb_batch_size")
TRUTHS = {BOTH: Truth(1.14, 0.90, 0.93, 1.10), SMALL: Truth(1.02, 1.0, 1.0, 1.0)}
NOTHING = {SMALL: Truth(1.0, 1.0, 1.0, 1.0)}


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple:
    """Return a search with a winner that costs memory."""
    return of(tmp_path_factory.mktemp("runs"), TRUTHS)


def of(folder: Path, truths: dict) -> tuple:
    """Return the dataset of a search with these truths, its outcome and its rows."""
    data, history = made_up_search.write(folder, wanted(), truths)
    result = outcome.judge(history, [Finalist(own, 0.1) for own in truths])
    plain = answer.to_json(result, wanted(), trade_off.of(data, result))
    return data, result, trade_off.table(plain)


def test_each_quantity_of_each_finalist_has_its_interval_over_the_baseline(searched: tuple):
    """It holds the truth (one of eight may not); throughput is that of the confirmation itself."""
    _, result, rows = searched
    held = []
    for number, truth in enumerate(TRUTHS.values(), 1):
        mine = rows[rows["number"] == number].set_index("quantity")
        for name, true in zip(("throughput", "p95", "cpu", "memory"), truth, strict=True):
            held.append(mine.loc[name, "low"] <= true <= mine.loc[name, "high"])
    assert len(held) == 8
    assert sum(held) >= 7
    first = rows[(rows["number"] == 1) & (rows["quantity"] == "throughput")].iloc[0]
    assert (first["low"], first["high"]) == pytest.approx(result.winner.ratio[1:], abs=1e-4)


def test_the_title_is_the_answer_with_what_it_costs(searched: tuple):
    """It says only what is certain; without a winner, to keep the configuration."""
    *_, rows = searched
    title = trade_off.title(rows)
    assert title.startswith("These two settings together gave 1")
    assert "p95" in title
    assert "memory of the nodes" in title
    assert trade_off.describe(rows)[0] == f"{title}."


def test_without_a_winner_the_title_says_so(tmp_path: Path):
    """The finalist is still drawn: what it costs is no reason to take it."""
    _, _, rows = of(tmp_path, NOTHING)
    assert trade_off.title(rows).startswith("Keep your configuration")
    assert trade_off.describe(rows)[1].startswith("Finalist 1, ndb_cluster_connection_pool=1:")


def test_panels_stand_two_by_two_and_on_a_phone_below_each_other(searched: tuple):
    """Titles of panels say which way is better."""
    *_, rows = searched

    def painted() -> Figure:
        with sheet.page(trade_off.height_in(rows)) as figure:
            sheet.sign(figure, trade_off.paint(figure, rows), "")
        return figure

    wide = painted()
    with sheet.tall():
        tall = painted()
    titles = [ax.get_title("left") for ax in tall.axes]
    assert titles[:2] == ["queries/s (more is better)", "p95 (less is better)"]
    assert len(titles) == 4
    assert wide.axes[0].get_subplotspec().get_gridspec().ncols == 2
    assert tall.axes[0].get_subplotspec().get_gridspec().ncols == 1
    assert tall.get_figheight() > wide.get_figheight()


@pytest.mark.parametrize("many", [2, 10, 30])
def test_settings_are_written_once_and_not_over_the_source(searched: tuple, many: int):
    """In the notes, or in a panel that is empty; what does not fit is in the answer."""
    *_, rows = searched
    settings = ", ".join(f"ndb_some_variable_{number}=1" for number in range(many))
    rows = rows[(rows["number"] == 1) & (rows["quantity"] != trade_off.MEMORY)]
    rows = rows.assign(settings=settings)
    with sheet.page(trade_off.height_in(rows)) as figure:
        sheet.sign(figure, trade_off.paint(figure, rows), "Dataset of this test.")
    figure.canvas.draw()
    [source] = [text for text in figure.texts if "Dataset of this test" in text.get_text()]
    texts = [*figure.texts, *(text for ax in figure.axes for text in ax.texts)]
    written = [text for text in texts if "ndb_some_variable_0=1" in text.get_text()]
    assert len(written) == 1
    bottom = written[0].get_window_extent().y0
    assert bottom > source.get_window_extent().y1


def test_the_notebook_draws_what_the_search_noted(searched: tuple):
    """The manifest is enough, since readers of the dataset do not have this host's knobs."""
    data, result, _ = searched
    plain = answer.to_json(result, wanted(), trade_off.of(data, result))
    noted = type(data)(data.path, {**data.manifest, "answer": plain}, data.tables)
    picture, figure = drawing.draw("trade-off", noted)
    assert sheet.title(figure).startswith("These two settings together gave ")
    assert "Finalist 2" in picture.alt


def test_the_picture_lies_beside_the_other(searched: tuple, tmp_path: Path):
    """None where no finalist has a block."""
    data, _, rows = searched
    file = trade_off.save(data, rows, "oltp_point_select", tmp_path)
    assert file == tmp_path / f"{data.id}-trade-off.png"
    assert file.stat().st_size > 10_000
    bare = Outcome(None, (), (), 3, (), math.nan)
    empty = trade_off.table(answer.to_json(bare, wanted(), {}))
    assert trade_off.save(data, empty, "oltp_point_select", tmp_path) is None
    with pytest.raises(MissingData):
        trade_off.paint(SimpleNamespace(), pd.DataFrame(empty))


def test_memory_beside_idle_servers_is_not_told(searched: tuple):
    """A trial of fewer servers keeps the others running, which who deploys it would not have."""
    data, result, _ = searched
    plain = answer.to_json(result, wanted(), trade_off.of(data, result))
    assert "memory" in set(trade_off.table(plain)["quantity"])
    for finalist in plain["finalists"]:
        finalist["configuration"] = ["servers=1"]
    plain["winner"] = ["servers=1"] if len(plain["finalists"]) == 1 else None
    assert set(trade_off.table(plain)["quantity"]) == {"throughput", "p95", "cpu"}
