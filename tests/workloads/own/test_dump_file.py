"""Dumps of the user's tables: what is refused before anything starts."""

from __future__ import annotations

import gzip
from types import SimpleNamespace

import pytest

from ndblab.error import LabError
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads.load_generator import Job
from ndblab.workloads.own import dump_file

TABLE = """\
DROP TABLE IF EXISTS `orders`;
CREATE TABLE `orders` (
  `id` int NOT NULL,
  `note` varchar(50) DEFAULT ') ENGINE=InnoDB',
  PRIMARY KEY (`id`)
) ENGINE=ndbcluster DEFAULT CHARSET=utf8mb4;
INSERT INTO `orders` VALUES (1,'CREATE DATABASE x;\\n) ENGINE=MyISAM');
"""


def test_a_dump_of_ndb_tables_is_taken(tmp_path):
    """Whatever its rows and defaults say."""
    path = tmp_path / "dump.sql"
    path.write_text(TABLE)
    dump_file.check(path)


@pytest.mark.parametrize(
    ("text", "what", "found"),
    [
        (None, "does not exist", "dump.sql"),
        ("", "creates no table", "0 bytes"),
        ("SELECT 1;\n", "creates no table", "10 bytes"),
        (TABLE.replace("ENGINE=ndbcluster", "ENGINE=InnoDB"), "not NDB's", "orders (InnoDB)"),
        ("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB;\n", "not NDB's", "t (InnoDB)"),
        ("-- x\nUSE `shop`;\n" + TABLE, "(line 2) names a database", "USE `shop`;"),
    ],
)
def test_a_dump_that_cannot_be_loaded_is_one_message(tmp_path, text, what, found):
    """It names the file, the table or the line."""
    path = tmp_path / "dump.sql"
    if text is not None:
        path.write_text(text)
    with pytest.raises(LabError) as caught:
        dump_file.check(path)
    assert what in caught.value.what
    assert found in str(caught.value.found)
    assert caught.value.next_step


def test_a_compressed_dump_comes_with_the_command_that_decompresses_it(tmp_path):
    """As `mysqldump ... | gzip` makes it."""
    path = tmp_path / "my dump.sql.gz"
    path.write_bytes(gzip.compress(TABLE.encode()))
    with pytest.raises(LabError) as caught:
        dump_file.check(path)
    assert caught.value.next_step == f"Decompress it: gunzip -k '{path}'"


def test_table_options_are_not_ignored_in_silence(tmp_path):
    """They would apply to neither side of a comparison."""
    job = Job(None, profile.get("smoke"), Point(1, 1), [], table_options="COMMENT='x'")
    with pytest.raises(LabError, match="Table options"):
        dump_file.load(SimpleNamespace(), job, tmp_path / "dump.sql")
