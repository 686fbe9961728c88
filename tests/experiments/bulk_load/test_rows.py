"""The rows of bulk loads, and the statements that insert them."""

from __future__ import annotations

import json
import re
import zlib

from ndblab.experiments.bulk_load import client, rows

SIZE = 1500


def test_rows_are_like_those_of_sysbench_and_the_same_for_the_same_seed():
    """Ten groups of eleven digits, and five, fill CHAR(120) and CHAR(60) but for a space."""
    made = [line.split("\t") for line in rows.lines(SIZE, "1 sbtest1")]
    assert [int(number) for number, *_ in made] == list(range(1, SIZE + 1))
    for _, k, c, pad in made:
        assert 1 <= int(k) <= SIZE
        assert re.fullmatch(r"(\d{11}-){9}\d{11}", c)
        assert re.fullmatch(r"(\d{11}-){4}\d{11}", pad)
    assert list(rows.lines(3, "1 sbtest1")) != list(rows.lines(3, "1 sbtest2"))
    assert list(rows.lines(3, "1 sbtest1")) == list(rows.lines(3, "1 sbtest1"))


def test_each_file_has_its_rows_and_a_sum_that_proves_them(tmp_path):
    """A changed row changes the sum."""
    rows.main(["--table-size=7", "--seed=1", f"--folder={tmp_path}", "sbtest1", "sbtest2"])
    sums = json.loads((tmp_path / rows.SUMS).read_text())
    assert set(sums) == {"sbtest1", "sbtest2"}
    for table, total in sums.items():
        lines = rows.file(tmp_path, table).read_text().splitlines()
        assert len(lines) == 7
        assert total == sum(zlib.crc32(line.encode()) for line in lines)


def test_inserts_hold_every_row_once():
    """As many as may be in each statement, and the rest in the last."""
    lines = [f"{line}\n" for line in rows.lines(SIZE, "1")]
    statements = list(client.inserts("sbtest1", iter(lines)))
    counts = [statement.count("(") - 1 for statement in statements]
    assert counts == [client.ROWS_PER_INSERT, SIZE - client.ROWS_PER_INSERT]
    number, k, c, pad = lines[0].split()
    assert statements[0].startswith(
        f"INSERT INTO sbtest1 (id, k, c, pad) VALUES ({number},{k},'{c}','{pad}'),("
    )
