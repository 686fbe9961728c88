"""The upgrade gate: baselines, their history, and what counts as a change."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest

import made_up_comparison
from ndblab.comparing import comparison, files
from ndblab.comparing.request import Request
from ndblab.comparing.sides import Alike
from ndblab.error import LabError
from ndblab.publishing.comparisons import watch
from ndblab.publishing.comparisons.history import Entry
from ndblab.publishing.comparisons.watch import Baseline


def entry(ratio: float, half: float = 0.01) -> Entry:
    """A made-up comparison of this ratio."""
    return Entry("2021-09-30T12:00:00Z", "9.7.4", "a host", "", ratio, ratio - half, ratio + half,
                 "", "", 0, "")  # fmt: skip


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """A lab whose comparisons are made up: each has the next of `faster`; `typed` is its sides."""
    made = SimpleNamespace(version="9.7.4", faster=[1.0], typed=[], options=[])

    def installed() -> SimpleNamespace:
        return SimpleNamespace(basedir=Path("/opt/ndb"), ndb_version=made.version,
                               product=f"NDB {made.version}")  # fmt: skip

    def compare(request: Request, notebook: object = None) -> tuple[str, int]:
        assert notebook is not None, "the report reads the band from it"
        made.typed.append([dict(files.read(Path(side))[0]) for side in request.words])
        made.options.append(request)
        number = len(made.typed)
        data = made_up_comparison.write(tmp_path / "runs", faster=made.faster[number - 1],
                                        seed=number, versions={"ndb": made.version})  # fmt: skip
        return json.dumps({"dataset": str(data.path)}), 1

    monkeypatch.setattr(watch.install, "ensure", installed)
    monkeypatch.setattr(comparison, "compare", compare)
    monkeypatch.setattr(comparison, "prepare", lambda *a, **k: None)
    monkeypatch.setattr(watch, "BASELINES", tmp_path / "baselines")
    return made


def test_a_baseline_without_an_engine_has_the_installed_one(lab: SimpleNamespace) -> None:
    """So an upgrade is compared with the programs of the day when it was saved."""
    watch.save("nightly", ["ndb_batch_size=64K"], {"workload": "oltp_read_write", "seed": None})
    baseline = Baseline.of("nightly")
    assert baseline.side == {"engine": "/opt/ndb", "ndb_batch_size": "64K"}
    assert baseline.load == {"ndb": "9.7.4", "workload": "oltp_read_write"}


@pytest.mark.parametrize("wrong", [{"within": "0"}, {"workload": "typo.sql"}, {"clients": "abc"}])
def test_a_load_that_cannot_be_is_refused_before_it_is_saved(lab, wrong: dict[str, str]) -> None:
    """After the upgrade the old state may be gone."""
    with pytest.raises(LabError):
        watch.save("nightly", [], wrong)
    assert not (Baseline.of("nightly").folder / "baseline.toml").exists()


def test_a_baseline_saved_anew_begins_a_new_history(lab: SimpleNamespace) -> None:
    """Comparisons with another side say nothing of what has changed since."""
    lab.faster = [1.05, 0.9]
    for side in ([], ["servers=2"]):
        watch.save("nightly", side, {})
        text, _ = watch.compare("nightly", ["ndb_batch_size=64K"])
    assert "This has changed" not in text
    assert len(Baseline.of("nightly").entries) == 1


def test_what_is_now_is_compared_under_the_stored_load(lab: SimpleNamespace) -> None:
    """A is the baseline; the exit status is that of compare; history and trend are kept."""
    lab.faster = [1.05, 0.9]
    watch.save("nightly", ["engine=8.0.44"], {"workload": "oltp_read_write", "tables": "4"})
    first, status = watch.compare("nightly", ["ndb_batch_size=64K"], minutes=3)
    assert status == 1
    assert lab.typed == [[{"engine": "8.0.44"}, {"ndb_batch_size": "64K"}]]
    assert lab.options[0].workload == "oltp_read_write"
    assert lab.options[0].overrides == {"tables": "4"}
    assert lab.options[0].again
    again, _ = watch.compare("nightly", ["ndb_batch_size=64K"])
    assert "before" not in first
    assert "This has changed: it was +4." in again
    baseline = Baseline.of("nightly")
    assert [entry.outcome for entry in baseline.entries] == ["faster", "slower"]
    page = (baseline.folder / "trend.html").read_text()
    assert "This has changed" in page
    assert "data:image/png;base64," in page


def test_the_answer_for_programs_has_the_change_and_the_trend(lab: SimpleNamespace) -> None:
    """What `compare --json` says, and what only a baseline knows; also where nothing differs."""
    lab.faster = [1.05, 0.9]
    watch.save("nightly", [], {})
    for _ in lab.faster:
        text, status = watch.compare("nightly", ["ndb_batch_size=64K"], as_json=True)
    answer = json.loads(text)
    assert status == 1
    assert Path(answer["dataset"]).is_dir()
    assert answer["baseline"] == "nightly"
    assert answer["change"].startswith("This has changed: it was +4.")
    assert Path(answer["trend"]).is_file()
    assert answer["go_on"] == ""
    same, status = watch.compare("nightly", [], as_json=True)
    assert json.loads(same) == {"outcome": "alike", "baseline": "nightly", "exit_status": status}


def test_a_side_that_names_what_the_other_has_by_default_passes(lab, monkeypatch) -> None:
    """The programs know it; a gate does not stop for it."""

    def alike(request: Request, notebook: object = None) -> tuple[str, int]:
        raise Alike("The two sides differ in nothing")

    watch.save("nightly", ["ndb_force_send=on"], {})
    monkeypatch.setattr(comparison, "compare", alike)
    text, status = watch.compare("nightly", ["brief"])
    assert status == 0
    assert "Nothing differs" in text


def test_a_side_that_equals_the_default_is_saved(lab, monkeypatch) -> None:
    """It differs in nothing today; the default may change."""

    def alike(*_: object) -> None:
        raise Alike("The two sides differ in nothing")

    monkeypatch.setattr(comparison, "prepare", alike)
    watch.save("nightly", ["ndb_force_send=on"], {})
    assert Baseline.of("nightly").side["ndb_force_send"] == "on"


def test_a_baseline_with_an_engine_passes_until_the_upgrade_comes(lab, monkeypatch) -> None:
    """The named release is the installed one."""
    there = SimpleNamespace(basedir=Path("/opt/ndb"))
    monkeypatch.setattr(watch.engines, "present", lambda name: there)
    watch.save("nightly", ["engine=9.7.4"], {})
    assert watch.compare("nightly", [])[1] == 0
    assert lab.typed == []


def test_an_open_comparison_names_the_time_that_would_decide_it(lab: SimpleNamespace) -> None:
    """It is measured anew, so the time that it took counts, too. A decided one needs none."""
    lab.faster = [1.0, 1.3]
    watch.save("nightly", [], {"within": "0.1"})
    text, _ = watch.compare("nightly", ["ndb_batch_size=64K"])
    again = "Measure it anew, for longer: ./lab watch --baseline nightly ndb_batch_size=64K"
    assert f"{again} --minutes " in text
    assert text.startswith("A: ")
    assert again not in watch.compare("nightly", ["ndb_batch_size=64K"])[0]


def test_an_engine_that_was_replaced_in_its_place_is_said(lab: SimpleNamespace) -> None:
    """A package manager upgrades in place: then there is nothing to compare with."""
    watch.save("nightly", [], {})
    lab.version = "9.8.0"
    with pytest.raises(LabError, match="no longer there") as caught:
        watch.compare("nightly", [])
    assert "engine=9.7.4" in str(caught.value.next_step)


def test_a_baseline_may_be_a_folder_of_the_user(lab: SimpleNamespace, tmp_path: Path) -> None:
    """A name with a slash, such as one in the repository that is tested."""
    watch.save(str(tmp_path / "ci/gate"), [], {})
    assert (tmp_path / "ci/gate/baseline.toml").is_file()
    with pytest.raises(LabError, match="no baseline other"):
        watch.compare("other", [])


def test_a_change_is_said_once_it_is_clear() -> None:
    """Not within the error; after it, the new level is what later ones are compared with."""
    level = [entry(1.0), entry(1.005), entry(0.995), entry(1.002), entry(0.998)]
    assert watch.trend(level[:1]) == ""
    assert watch.trend(level).startswith("No change: it was 0.0 % on average of the 4 times")
    fallen = [*level, entry(0.9)]
    assert watch.trend(fallen).startswith("This has changed: it was 0.0 % on average of the 5")
    assert watch.trend([*fallen, entry(0.905)]).startswith("No change: it was -10.0 % the time")


def test_equal_comparisons_rarely_count_as_changed() -> None:
    """Intervals of 95 % that share nothing: less than one of a hundred."""
    import numpy as np

    rng = np.random.default_rng(1)
    changes = 0
    for _ in range(200):
        history = [entry(float(x), 0.02) for x in np.exp(rng.normal(0, 0.01, 8))]
        changes += watch.trend(history).startswith("This has changed")
    assert changes <= 4


@pytest.mark.parametrize("none", [entry(math.nan), entry(0.9, math.nan)])
def test_a_comparison_without_an_interval_is_no_part_of_the_trend(none: Entry) -> None:
    """It has too few blocks; those after it are held against those before it."""
    assert not watch.trend([entry(1.0), none])
    assert not watch.trend([none, entry(0.2)])
    assert watch.trend([entry(1.0), none, entry(1.0)]) == "No change: it was 0.0 % the time before."


def test_the_command_that_goes_on_is_the_one_that_was_typed(lab: SimpleNamespace) -> None:
    """Not that of the comparison, which knows nothing of the baseline's history."""
    watch.save("nightly", [], {})
    watch.compare("nightly", ["ndb_batch_size=64K"])
    [asked] = lab.options
    assert asked.command == "./lab watch --baseline nightly ndb_batch_size=64K"
