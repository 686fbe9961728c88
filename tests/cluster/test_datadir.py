"""The initialised data folder that all servers copy: whole, or not there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from stand_ins import put_program

from ndblab.cluster import datadir, start_stop
from ndblab.cluster.cluster import Cluster
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.planning import deployment, twins

PROGRAM = """#!/bin/sh
for word in "$@"; do case "$word" in --datadir=*) made="${{word#--datadir=}}";; esac; done
mkdir "$made"; touch "$made/ibdata1" {more}
echo started >> {log}
exit {code}
"""


def cluster(folder: Path, code: int = 0, left: str = "") -> Cluster:
    """A cluster whose mysqld leaves a file besides, and ends with a status."""
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    more = f'"$made/{left}"' if left else ""
    text = PROGRAM.format(more=more, log=folder / "started", code=code)
    mysqld = put_program(folder / "mysqld", text)
    binaries = SimpleNamespace(
        mysqld=mysqld, mysqld_version="9.7.4", ndb_version="9.7.4", mysqld_args=()
    )
    return Cluster(None, binaries, folder)


def test_a_template_is_made_once_and_twins_share_it(tmp_path: Path):
    """The second cluster's folder is below that of the first."""
    first, second = cluster(tmp_path), cluster(tmp_path / twins.FOLDERS[0])
    made = datadir.template(second, "")
    assert made == tmp_path / "template-9.7.4"
    assert datadir.template(first, "") == made
    assert (made / "ibdata1").exists()
    assert not (tmp_path / "started").exists()
    assert (tmp_path / twins.FOLDERS[0] / "started").read_text() == "started\n"


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


def planned(folder: Path) -> Cluster:
    """A cluster of one server, before anything of it is in its folder."""
    places = start_stop.places(folder, 13860)
    plan = deployment.make(host.read(), deployment.Shape(1, 1, 1, budget="shared", places=places))
    return Cluster(plan, SimpleNamespace(ndb_version="9.7.4", mysqld_version="9.7.4"), folder)


def test_a_new_cluster_takes_the_place_of_an_earlier_one_and_of_what_was_left_of_its_removal(
    tmp_path: Path,
):
    """Nothing of it is left, but the template; the new nodes' folders are there meanwhile."""
    of_one = planned(tmp_path)
    folder, plan = of_one.folder, of_one.plan
    for name in ("mysqld.1", "ndbd.2", "ndb_mgmd.1", "logs", "template-9.7.4", "old.1.mysqld.1"):
        (folder / name).mkdir()
        (folder / name / "before").touch()
    removal = datadir.lay_out(of_one)
    made = {Path(node.data_dir).name for node in (plan.management_node, *plan.data_nodes)}
    assert removal.wait(60) == 0
    assert {path.parent.name for path in folder.glob("*/before")} == {"template-9.7.4"}
    assert made <= {path.name for path in folder.iterdir()}
    assert not list(folder.glob("old.*"))


def test_a_first_cluster_has_nothing_to_remove(tmp_path: Path):
    """No process is started for it."""
    assert datadir.lay_out(planned(tmp_path)) is None
