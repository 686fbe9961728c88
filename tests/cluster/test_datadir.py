"""The initialised data folder that all servers copy: whole, or not there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab.cluster import datadir
from ndblab.cluster.cluster import Cluster
from ndblab.error import LabError
from ndblab.planning import twins

PROGRAM = """#!/bin/sh
for word in "$@"; do case "$word" in --datadir=*) made="${{word#--datadir=}}";; esac; done
mkdir "$made"; touch "$made/ibdata1" {more}
echo started >> {log}
exit {code}
"""


def cluster(folder: Path, code: int = 0, left: str = "") -> Cluster:
    """A cluster whose mysqld leaves a file besides, and ends with a status."""
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    mysqld, log = folder / "mysqld", folder / "started"
    more = f'"$made/{left}"' if left else ""
    mysqld.write_text(PROGRAM.format(more=more, log=log, code=code))
    mysqld.chmod(0o700)
    binaries = SimpleNamespace(
        mysqld=mysqld, mysqld_version="9.7.4", ndb_version="9.7.4", mysqld_args=()
    )
    return Cluster(None, binaries, folder)


def test_a_template_is_made_once_and_twins_share_it(tmp_path: Path):
    """The second cluster's folder is below that of the first."""
    first, second = cluster(tmp_path), cluster(tmp_path / twins.FOLDER)
    made = datadir.template(second, "")
    assert made == tmp_path / "template-9.7.4"
    assert datadir.template(first, "") == made
    assert (made / "ibdata1").exists()
    assert not (tmp_path / "started").exists()
    assert (tmp_path / twins.FOLDER / "started").read_text() == "started\n"


@pytest.mark.parametrize(
    ("code", "left", "why"),
    [(0, "ibtmp1", "stopped before its end"), (1, "", "exit status 1")],
)
def test_half_a_template_is_never_used(tmp_path: Path, code: int, left: str, why: str):
    """A mysqld that was told to end reports success: the next start makes the folder anew."""
    with pytest.raises(LabError, match=why):
        datadir.template(cluster(tmp_path, code, left), "")
    assert not (tmp_path / "template-9.7.4").exists()
    assert (datadir.template(cluster(tmp_path), "") / "ibdata1").exists()
