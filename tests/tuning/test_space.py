"""What a search may change on a host."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.comparing import knobs, made
from ndblab.design.contrast import RESTARTS, TWINS
from ndblab.error import LabError
from ndblab.tuning import prepared, space
from ndblab.tuning.space import Row
from ndblab.tuning.wanted import Request, Wanted
from ndblab.workloads.own import resolving


def of(*rows: Row, cpus: float = 8, **current: object) -> dict[str, space.Tunable]:
    """Return knobs by name, given their present values."""
    now = {knobs.find(name).key: value for name, value in current.items()}
    return {tunable.word: tunable for tunable in space.tunables(rows, now, cpus)}


@pytest.mark.parametrize("cpus", [2, 4, 8, 16, 256])
def test_every_knob_of_the_table_has_values_within_its_range_on_any_host(cpus: int):
    """This includes values that follow the host; none is the value that is there already."""
    rows = space.table()
    now = {knobs.find(row.name).key: "no such value" for row in rows}
    tunables = space.tunables(rows, now, cpus)
    assert len(tunables) == len(rows)
    for tunable in tunables:
        assert len(set(tunable.values)) == len(tunable.values)


def test_the_present_value_is_not_tried():
    """Its spelling does not matter; a knob without another value is no knob."""
    tunables = of(Row("ndb_batch_size", "8K|32K|128K"), ndb_batch_size="32768")
    assert tunables["ndb_batch_size"].values == (8192, 131072)
    assert of(Row("ndb_force_send", "on"), ndb_force_send="ON") == {}


def test_what_acts_on_joins_alone_is_no_knob_for_a_load_without_them():
    """A gain from it would be noise, and advice that harms other loads."""
    rows = [row for row in space.table() if row.name in ("ndb_join_pushdown", "ndb_batch_size")]
    now = {knobs.find("ndb_join_pushdown").key: "ON", knobs.find("ndb_batch_size").key: 32768}
    assert "ndb_join_pushdown" in {t.word for t in space.tunables(rows, now, 2)}
    [batch] = space.tunables(rows, now, 2, may_join=False)
    assert batch.word == "ndb_batch_size"
    assert not resolving.resolve("oltp_read_only").may_join
    assert resolving.resolve("tpc_c").may_join


def test_a_users_row_replaces_a_knob_however_its_name_is_typed(tmp_path: Path) -> None:
    """Else the same knob would be searched twice."""
    file = tmp_path / "mine.csv"
    file.write_text("name,values\nShmSpintime,0|100\nnumcpus,2\nndb-batch-size,16K\n")
    assert len(space.table(file)) == len(space.table())
    with pytest.raises(LabError):
        of(Row("servers", "cpus/0"), servers=1)


def test_values_follow_the_host():
    """They are at least 1."""
    row = Row("servers", "1|cpus|2*cpus|cpus/16", "cpus/12")
    assert of(row, cpus=24, servers=1)["servers"].values == (24, 48, 2)
    assert of(row, cpus=24, servers=1)["servers"].expert == 2
    assert of(row, cpus=2, servers=4)["servers"].values == (1, 2)


def test_numbers_of_servers_above_that_of_clients_are_not_tried():
    """Each would be a failed trial, and spoil the others that it is screened with."""
    rows = Row("servers", "2|4|8", "8"), Row("ndb_batch_size", "8K")
    knobs_ = tuple(of(*rows, servers=1, ndb_batch_size=32768).values())
    servers, batch = prepared._served(knobs_, 4)
    assert (servers.values, servers.expert) == ((2, 4), None)
    assert prepared._served(knobs_, 1) == (batch,)
    assert prepared._served(knobs_, 8) == knobs_


def test_more_clients_that_are_tried_allow_more_servers():
    """A configuration with both runs."""
    rows = Row("servers", "8|16"), Row("clients", "8")
    servers, _ = prepared._served(tuple(of(*rows, servers=1, clients=4).values()), 4)
    assert servers.values == (8,)


def test_the_cpu_split_is_no_knob_where_nothing_is_split():
    """A quota would only take CPUs away."""
    row = Row("data_nodes", "25%|50%")
    assert of(row) == {}
    assert of(row, data_nodes=40)["data_nodes"].values == (25, 50)


def test_a_knob_that_would_do_nothing_is_left_out_of_a_configuration():
    """Such is the spin time of shared memory if the configuration or baseline uses TCP links."""
    rows = Row("UseShm", "on|off"), Row("shm:ShmSpintime", "0|200", needs="UseShm=on")

    def effective(now: str, **values: space.Value) -> dict[str, space.Value]:
        now = {"UseShm": now, "shm:ShmSpintime": 50}
        searched = space.Space(tuple(of(*rows, **now).values()), {})
        return dict(searched.effective({"ShmSpintime": 200, **values}))

    assert effective("ON") == {"ShmSpintime": 200}
    assert effective("ON", UseShm="OFF") == {"UseShm": "OFF"}
    assert effective("OFF") == {}
    assert effective("OFF", UseShm="ON") == {"UseShm": "ON", "ShmSpintime": 200}


def test_tls_is_a_knob_only_where_the_user_asks_for_it(tmp_path: Path):
    """It is tried over TCP only, in either direction."""
    assert "tls" not in [row.name for row in space.table()]
    file = tmp_path / "mine.csv"
    file.write_text("name,values,needs\ntls,on|off,UseShm=off\n")
    rows = [row for row in space.table(file) if row.name in ("tls", "UseShm")]
    for now, tried in (("ON", "OFF"), ("OFF", "ON")):
        searched = space.Space(tuple(of(*rows, tls=now, UseShm="OFF").values()), {})
        assert searched.tunable("tls").values == (tried,)
        assert searched.effective({"tls": tried}) == (("tls", tried),)
        over_shm = searched.effective({"tls": tried, "UseShm": "ON"})
        assert over_shm == (("UseShm", "ON"),)


def test_a_knob_whose_need_is_never_met_is_no_knob(tmp_path: Path):
    """The user's file takes UseShm away, and sets other values of a knob that needs it."""
    file = tmp_path / "mine.csv"
    file.write_text("name,values\nUseShm,\nshm:ShmSpintime,0|100\n")
    rows = [row for row in space.table(file) if row.name == "shm:ShmSpintime"]
    for links, words in (("OFF", set()), ("ON", {"ShmSpintime"})):
        assert set(of(*rows, **{"UseShm": links, "shm:ShmSpintime": 50})) == words


def test_the_word_brief_is_the_brief_s_servers_and_cpu_split():
    """What is typed beside it replaces them; another configuration beside it is refused."""

    def words(*typed: str) -> set[str]:
        return set(map(str, prepared._baseline(typed, ())))

    assert words("brief") == {"servers=16", "data_nodes=25%"}
    assert words("brief", "servers=4") == {"servers=4", "data_nodes=25%"}
    assert words() == set()
    with pytest.raises(LabError, match="one baseline"):
        words("brief", "mine/")


def test_a_file_of_the_user_adds_replaces_and_removes(tmp_path: Path):
    """A line without values removes a knob; "*" removes all of the lab's."""
    file = tmp_path / "mine.csv"
    file.write_text("name,values\nUseShm,\nndb_batch_size,16K\nthread_cache_size,8|64\n")
    values = {row.name: row.values for row in space.table(file)}
    assert "UseShm" not in values
    assert values["ndb_batch_size"] == "16K"
    assert values["thread_cache_size"] == "8|64"
    assert "SpinMethod" in values
    file.write_text("name,values\n*,\nndb_batch_size,16K\n")
    assert [row.name for row in space.table(file)] == ["ndb_batch_size"]
    file.write_bytes(b"\xef\xbb\xbfname,values\r\n*,\r\nndb_batch_size,16K\r\n")
    assert [(row.name, row.values) for row in space.table(file)] == [("ndb_batch_size", "16K")]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("knob,value\nx,1\n", "is no table of knobs"),
        ("name,values\nSpinMethod,A,B,C,D\n", "is no table of knobs"),
        ("name;values\nSpinMethod;A\n", "is no table of knobs"),
        ("name,values\n", "is no table of knobs"),
        ("", "is no table of knobs"),
        ("name,values\nnosuch,\n", "removes a knob that is not there"),
    ],
)
def test_a_file_that_is_no_table_is_one_message(tmp_path: Path, text: str, what: str):
    """The message says what was expected."""
    file = tmp_path / "mine.csv"
    file.write_text(text)
    with pytest.raises(LabError, match=what):
        space.table(file)
    with pytest.raises(LabError, match="cannot be read"):
        space.table(tmp_path / "absent.csv")


def test_a_configuration_replaces_the_users_own_value():
    """It leaves the rest of the user's settings."""
    [tunable] = of(Row("ndb_batch_size", "8K"), ndb_batch_size=32768).values()
    baseline = tuple(space.Setting(knobs.find(n), v) for n, v in
                     (("ndb_batch_size", 32768), ("ndb_force_send", "OFF")))  # fmt: skip
    load = made.Load("oltp_point_select", 1, 16)
    searched = Wanted(baseline, space.Space((tunable,), {}), load, Request())
    settings = searched.settings((("ndb_batch_size", 8192),))
    assert {s.knob.name: s.value for s in settings} == {
        "ndb_batch_size": 8192, "ndb_force_send": "OFF",
    }  # fmt: skip


def test_servers_that_are_not_idle_beside_others_have_clusters_of_their_own():
    """Those with binary logs write the changes of all. Others use CPU, which the side with fewer
    would lack."""
    known = of(Row("servers", "1|2"), Row("performance_schema", "on|off"),
               servers=1, performance_schema="OFF")  # fmt: skip
    for logs, restarts in ((False, RESTARTS), (True, TWINS)):
        own = space.Space(tuple(known.values()), {RESTARTS: 40.0}, logs=logs)
        tried = (("servers", 2),), (("performance_schema", "ON"),)
        assert tuple(map(own.design, tried)) == (TWINS, restarts)
