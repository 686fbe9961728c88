"""The figures of the capacity model: what is drawn, described and refused."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from drawn import caption, dots, said, title, written
from ndblab import figures, formatting
from ndblab.error import LabError
from ndblab.experiments.capacity import brief_server
from ndblab.experiments.capacity import figure_of_resources as resources

KEYS = ("capacity", "bounds", "bottlenecks", "errors", "brief-predicted")
SERVERS, CLIENTS = (1, 2, 4, 8, 16), (16, 32, 64, 128, 256, 512)
METHODS = ("capacity model", "linear, capped", "USL", "the brief's division")


def tables() -> dict[str, pd.DataFrame]:
    """Made-up tables of a forecast: predictions 10 % too high, p95 20 % too low."""
    grid = pd.DataFrame([(s, c) for s in SERVERS for c in CLIENTS], columns=["servers", "clients"])
    qps = 2500.0 * np.minimum(grid["servers"], 5)
    p95 = 2500.0 * grid["clients"] / qps
    points = grid.assign(
        runs=4, qps_mean=qps, qps_low=0.9 * qps, qps_high=1.1 * qps, latency_p95_ms_mean=p95,
        latency_p95_ms_low=0.8 * p95, latency_p95_ms_high=1.25 * p95,
        latency_avg_ms_mean=1000 * grid["clients"] / qps,
    )  # fmt: skip
    beyond = np.where(grid["clients"] / grid["servers"] > 256, "512 clients a server", "")
    return {
        "points": points,
        "alone": points[points["servers"] == 1],
        "predicted": grid.assign(
            qps=1.1 * qps,
            qps_low=qps,
            qps_high=1.2 * qps,
            latency_p95_ms=0.8 * p95,
            extrapolated=beyond,
            p95_by=np.where(beyond == "", METHODS[1], METHODS[0]),
        ),
        **_bounds(),
        **_use(),
        **_errors(grid[grid["servers"] > 1]),
        **_of_the_brief(),
    }


def _bounds() -> dict[str, pd.DataFrame]:
    clients = np.array(CLIENTS)
    bounds = pd.DataFrame(
        {"clients": clients, "qps_least": 1000.0, "qps_most": 3000.0, "qps": 2700.0,
         "latency_least_ms": clients / 3.0, "latency_most_ms": clients / 1.0,
         "latency_avg_ms": clients / 2.7}
    )  # fmt: skip
    balance = pd.DataFrame({"clients": [20.0], "qps": [3000.0], "bottleneck": ["mysqld"]})
    return {"bounds": bounds, "balance": balance}


def _use() -> dict[str, pd.DataFrame]:
    names = [*resources.SHARES, *resources.THREADS]
    rows = [
        (s, 16 * s, name, min(1.0, 0.02 * (i + 1) * s + 0.05))
        for s in SERVERS
        for i, name in enumerate(names)
    ]
    use = pd.DataFrame(rows, columns=["servers", "clients", "resource", "utilisation"])
    return {"use": use, "measured_use": use.assign(utilisation=0.9 * use["utilisation"])}


def _errors(grid: pd.DataFrame) -> dict[str, pd.DataFrame]:
    errors, verdicts = [], []
    for i, name in enumerate(METHODS):
        for metric, goal in (("qps", 10.0), ("latency_p95_ms", 25.0)):
            ape = 4.0 * (i + 1) * (1 + np.arange(len(grid)) / len(grid))
            own = grid.assign(name=name, metric=metric, ape_pct=ape, error_pct=-ape)
            errors.append(own)
            facts = [name, metric, len(grid), float(np.median(ape)), float(ape.max())]
            verdicts.append([*facts, goal if i == 0 else np.nan])
    columns = ["name", "metric", "points", "median_pct", "p90_pct", "goal_pct"]
    return {
        "errors": pd.concat(errors, ignore_index=True),
        "verdicts": pd.DataFrame(verdicts, columns=columns),
    }


def _of_the_brief() -> dict[str, pd.DataFrame]:
    grid = pd.DataFrame(
        [(s, 2**i) for s in SERVERS for i in range(11) if 2**i >= s],
        columns=["servers", "clients"],
    )
    qps = 2e5 * np.minimum(grid["servers"], grid["clients"] / 8)
    beyond = np.where(grid["clients"] / grid["servers"] < 32, "too few", "")
    mean_ms = 1000 * grid["clients"] / qps
    latencies = {"latency_avg_ms": mean_ms, "latency_p95_ms": 2 * mean_ms}
    return {"brief_predicted": grid.assign(qps=qps, extrapolated=beyond, **latencies)}


def draw(key: str, made: dict[str, pd.DataFrame] | None = None, budget: str = "scaled") -> Figure:
    anchors = brief_server.anchors() if key == "brief-predicted" else []
    return figures.draw(key, made or tables(), anchors, caption(budget))


@pytest.mark.parametrize("key", KEYS)
def test_a_dataset_has_no_predictions_to_draw(key: str) -> None:
    """A forecast's figure of a dataset is refused, with the experiment that has its tables."""
    with pytest.raises(LabError, match="no data to draw") as caught:
        figures.draw(key, {"runs": pd.DataFrame()}, [], caption())
    assert "capacity-model" in str(caught.value)


def test_what_was_measured_stands_over_what_was_predicted() -> None:
    """Each point is in the panel of throughput and of p95, on logarithmic axes; the band beside the
    diagonal is as wide as the median error that the title names."""
    figure, made = draw("capacity"), tables()
    both = made["points"].merge(made["predicted"], on=["servers", "clients"])
    for ax, metric in zip(figure.axes, ("qps", "latency_p95_ms"), strict=True):
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        marks = [tuple(at) for m in ax.collections for at in np.asarray(m.get_offsets())]
        for at in zip(both[metric], both[f"{metric}_mean"], strict=True):
            assert at in marks
    assert title(figure) == (
        "Predicted from one server, several are 10 % off in throughput (goal 6 %) and 20 % off in "
        "p95 latency (goal 20 %), at the median"
    )


def test_extrapolation_is_hollow_and_named() -> None:
    """Points with more clients per server than were measured are told apart."""
    assert "more clients per server than were measured" in said(draw("capacity"))
    made = tables()
    made["predicted"]["extrapolated"] = ""
    assert "Hollow" not in said(draw("capacity", made))


def test_a_p95_of_a_simple_method_is_said_to_be_one() -> None:
    """And where all are the model's, nothing is said of methods."""
    assert 'Filled marks of p95: by a simple method, "linear, capped".' in said(draw("capacity"))
    made = tables()
    made["predicted"]["p95_by"] = METHODS[0]
    assert "simple method" not in said(draw("capacity", made))


def test_every_error_is_drawn_on_a_linear_axis_and_medians_are_named() -> None:
    """No point is left out; the median of each method is written beside its line."""
    figure, made = draw("errors"), tables()
    for ax, metric in zip(figure.axes, ("qps", "latency_p95_ms"), strict=True):
        own = made["errors"][made["errors"]["metric"] == metric]
        assert ax.get_xlim()[0] == 0
        assert sorted(dots(ax)) == pytest.approx(sorted(own["ape_pct"]))
        medians = made["verdicts"][made["verdicts"]["metric"] == metric]
        words = [text.get_text() for text in ax.texts]
        assert words == [f"{formatting.plain(value)} %" for value in medians["median_pct"]]
        goal = medians["goal_pct"].dropna().iloc[0]
        assert any(list(line.get_xdata()) == [goal, goal] for line in ax.lines)
    assert all(name in written(figure) for name in METHODS)
    assert re.match(
        r"Smallest median errors: throughput 5[\d.]* % \(capacity model\); ", title(figure)
    )


def test_methods_that_the_points_do_not_tell_apart_are_not_ranked() -> None:
    """The smallest of several medians may be so by chance."""
    made = tables()
    errors = made["errors"]
    second = (errors["name"] == METHODS[1]) & (errors["metric"] == "qps")
    first = errors.loc[(errors["name"] == METHODS[0]) & (errors["metric"] == "qps"), "ape_pct"]
    # Now nearer, now farther than the best method, and farther at the median.
    turns = np.where(np.arange(len(first)) % 2, 0.9, 1.2)
    errors.loc[second, "ape_pct"] = first.to_numpy() * turns
    words = title(draw("errors", made))
    assert "(capacity model, not clearly best); p95 latency" in words
    assert words.endswith("(capacity model)")


def test_whiskers_are_whole_and_explained() -> None:
    """Those of measured means reach beyond the bounds, and so does the axis."""
    made = tables()
    made["alone"] = made["alone"].assign(qps_high=1.6 * made["alone"]["qps_mean"])
    figure = draw("bounds", made)
    assert figure.axes[0].get_ylim()[1] >= made["alone"]["qps_high"].max()
    assert "Whiskers: 95 % confidence interval of the mean." in said(figure)
    made["alone"] = made["alone"].assign(qps_high=9 * made["alone"]["qps_mean"])
    words = said(draw("bounds", made))
    assert "Whiskers cut at the edge: at 16, 32, 64, 128, 256 and 512." in words


def test_a_large_error_is_drawn_at_the_edge() -> None:
    """Larger errors than the axis has are drawn at its end, and the notes say so."""
    made = tables()
    made["errors"].loc[0, "ape_pct"] = 300.0
    assert "Errors above 100 % are drawn there." in said(draw("errors", made))
    assert "are drawn there" not in said(draw("errors"))


def test_the_balanced_point_is_marked_and_said() -> None:
    """Below one client it is not on the axis, and the caption explains it."""
    figure = draw("bounds")
    assert "N*" in [text.get_text() for text in figure.axes[0].texts]
    assert "20 clients saturate mysqld if none of them waits." in said(figure)
    made = tables()
    made["balance"]["clients"] = 0.3
    few = draw("bounds", made)
    assert "so a single client saturates mysqld." in said(few)
    assert "N*" not in [text.get_text() for text in few.axes[0].texts]
    made["balance"] = made["balance"].head(0)
    assert "do not saturate the bottleneck" in said(draw("bounds", made))


def test_resources_are_named_at_the_ends_of_their_lines() -> None:
    """Names do not overlap, and 100 % is marked if it is in reach."""
    figure = draw("bottlenecks")
    shares, threads = figure.axes
    assert {text.get_text() for text in shares.texts} == set(resources.SHARES)
    assert {text.get_text() for text in threads.texts} == set(resources.THREADS)
    assert any(set(np.atleast_1d(line.get_ydata())) == {100} for line in shares.lines)
    places = sorted(text.xy[1] for text in threads.texts)
    assert min(np.diff(places)) > 0.05
    assert "quotas" in said(figure)
    assert "quotas" not in said(draw("bottlenecks", budget="pinned"))


def test_the_briefs_numbers_stand_next_to_their_predictions() -> None:
    """Every published number is drawn as exactly as it was published, on the axes of its unit."""
    figure = draw("brief-predicted")
    qps, latency = figure.axes
    for ax, unit in ((qps, "queries/s"), (latency, "ms")):
        marks = [line for line in ax.lines if line.get_marker() in ("*", "_")]
        published = [a.value for a in brief_server.anchors() if a.unit == unit]
        drawn = sorted(float(np.atleast_1d(line.get_ydata())[0]) for line in marks)
        assert drawn == sorted(published)
    assert "the lab is used" in said(figure)


def test_rounding_does_not_decide_where_a_flat_curve_is_best() -> None:
    """Of points that differ by rounding only, the one with the fewest clients is named."""
    made = tables()
    grid = made["brief_predicted"]
    grid["qps"] *= 1 + 1e-12 * grid["clients"]
    words = figures.describe("brief-predicted", made, brief_server.anchors())
    assert "with 1 at 8 clients" in words


@pytest.mark.parametrize("key", KEYS)
def test_words_for_those_who_cannot_see_it(key: str) -> None:
    """The description of a figure has its numbers, and ends with a full stop."""
    anchors = brief_server.anchors() if key == "brief-predicted" else []
    words = figures.describe(key, tables(), anchors)
    expected = {
        "capacity": "with 16 at 16 clients",
        "bounds": "measured",
        "bottlenecks": "data nodes",
        "errors": "capacity model",
        "brief-predicted": "published at least 1",
    }
    assert expected[key] in words
    assert words.endswith(".")
    assert any(character.isdigit() for character in words)


def test_a_single_run_has_no_whiskers() -> None:
    """A point of one run has a mark without whiskers."""
    made = tables()
    made["points"][["qps_low", "qps_high"]] = np.nan
    made["points"]["runs"] = 1
    figure = draw("capacity", made)
    assert "1 run per point" in said(figure)
