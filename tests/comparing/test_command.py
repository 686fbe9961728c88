"""The command: words in, exit status out."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import tasks
from invoke import Context

from ndblab import discovery
from ndblab.comparing import comparison
from ndblab.error import LabError

LAB = Path(__file__).parents[2] / "lab"


@pytest.mark.parametrize("status", [0, 1, 3])
def test_the_exit_status_is_the_outcome(
    status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """A gate for scripts; the answer is printed whatever it is."""
    monkeypatch.setattr(comparison, "compare", lambda *a, **k: ("an answer", status))
    try:
        tasks.compare.body(Context(), side=["ndb_batch_size=64K"])
        code = 0
    except tasks.Exit as ended:
        code = ended.code
    assert code == status
    assert "an answer" in capsys.readouterr().out


def test_a_mistake_has_a_status_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that of a slower side."""

    def refuse(*words: object, **options: object) -> None:
        raise LabError("No setting is called x")

    monkeypatch.setattr(comparison, "compare", refuse)
    with pytest.raises(tasks.Exit, match="No setting is called x") as ended:
        tasks.compare.body(Context(), side=["x=1"])
    assert ended.value.code == 2


def test_words_of_the_command_line_are_sides(tmp_path: Path) -> None:
    """Wherever they stand between options, which may have values."""
    shutil.copy(LAB, tmp_path / "lab")
    (tmp_path / "tasks.py").write_text("import sys\nprint(sys.argv[3:])\n")
    python = tmp_path / "env/bin"
    python.mkdir(parents=True)
    (python / "python").write_text('#!/bin/sh\n[ "$1" = -I ] && exit 0\nexec python3 "$@"\n')
    (python / "invoke").touch()
    for file in python.iterdir():
        file.chmod(0o755)
    words = ["servers=1", "--minutes", "3", "servers=2", "--json", "a b/", "--within=5", "x=--y"]
    done = subprocess.run(
        [tmp_path / "lab", "compare", *words], capture_output=True, text=True, check=True,
        env={"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": str(tmp_path / "env")},
    )  # fmt: skip
    expected = ["compare", "--side", "servers=1", "--minutes", "3", "--side", "servers=2", "--json"]
    expected += ["--side", "a b/", "--within=5", "--side", "x=--y"]
    assert done.stdout.strip() == str(expected)


def test_a_misspelt_workload_gets_those_that_are_close() -> None:
    """And a load that ends by itself has no rate to compare."""
    loads = discovery.modules("load")
    ends = next(each.WORKLOADS[0] for each in loads if getattr(each, "ENDS_BY_ITSELF", False))
    with pytest.raises(LabError, match="no workload called oltp_read_writ") as caught:
        comparison.compare(["servers=2"], workload="oltp_read_writ")
    assert "oltp_read_write" in caught.value.expected
    with pytest.raises(LabError, match="ends by itself"):
        comparison.compare(["servers=2"], workload=ends)


def test_the_command_is_given_back_as_it_was_typed() -> None:
    """With the load, so that it can be pasted; minutes are added where it goes on."""
    load = {"workload": "my queries.sql", "schema": None, "servers": 2, "clients": None}
    typed = comparison.command(["x=1"], load, True, 5, "quick", {"tables": 4}, None)
    assert typed == (
        "./lab compare x=1 --workload 'my queries.sql' --servers 2 --within 5 --tables 4 --writes"
    )
