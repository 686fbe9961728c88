"""What a dump holds: counted line by line, and refused if it ends early."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.experiments.dump import contents

SCRIPT = (Path(__file__).parents[2] / "captured/mysqldump/sbtest_9.7.4.sql").read_bytes()
"""Two tables of five rows, dumped from a real cluster."""


def test_tables_rows_and_bytes_are_counted():
    """Many rows share one INSERT, as mysqldump writes them."""
    dump = contents.of_script(SCRIPT.splitlines(keepends=True))
    assert (dump.tables, dump.rows, dump.size_bytes) == (2, 10, len(SCRIPT))


@pytest.mark.parametrize("cut", [0, 100, 2500, SCRIPT.index(b"-- Dump completed")])
def test_a_dump_without_its_last_line_is_not_complete(cut):
    """Wherever it was cut, the message says where it ends."""
    with pytest.raises(LabError, match="not complete") as caught:
        contents.of_script(SCRIPT[:cut].splitlines(keepends=True))
    assert "ends with" in caught.value.found or "empty" in caught.value.found


def test_a_shell_dump_without_its_last_file_is_not_complete(tmp_path):
    """MySQL Shell writes @.done.json when it has finished."""
    with pytest.raises(LabError, match="not complete"):
        contents.of_shell(tmp_path, "Tables dumped: 1\nRows written: 7\n")
