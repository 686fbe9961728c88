"""What may be compared on a cluster that the lab did not start."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest

from ndblab.comparing import attached, sides
from ndblab.comparing.knobs import CONFIG_INI, INITIAL, UNLISTED, Knob
from ndblab.comparing.request import Request
from ndblab.error import LabError

OTHERS = [Knob("MaxNoOfTables", CONFIG_INI, "ndbd default", "", INITIAL, UNLISTED)]


@pytest.mark.parametrize(
    "words",
    [
        ("SpinMethod=CostBasedSpinning",),
        ("performance_schema=on",),
        ("ndb_read_backup=off",),
        ("data_nodes=25%",),
        ("max_connections=20",),
        ("server_cpus=25%",),
        ("engine=9.7.4",),
        ("MaxNoOfTables=64",),
        ("servers=1", "servers=2", "UseShm=off"),
    ],
)
def test_what_must_be_restarted_is_refused(words: tuple[str, ...]) -> None:
    """Even if both sides have it, since the cluster may not have it; consent changes nothing."""
    with pytest.raises(LabError, match="not restarted or configured") as caught:
        attached.check(sides.parse(words, OTHERS), may_change=True)
    assert words[-1].partition("=")[0] in str(caught.value.found)


def test_global_variables_are_set_with_consent_only() -> None:
    """The message names them; table options, servers and clients set none."""
    parsed = sides.parse(["ndb_batch_size=64K", "ndb_join_pushdown=off"])
    with pytest.raises(LabError, match="Global variables") as caught:
        attached.check(parsed, may_change=False)
    assert caught.value.found == "ndb_batch_size=65536, ndb_join_pushdown=OFF"
    attached.check(parsed, may_change=True)
    attached.check(sides.parse(["READ_BACKUP=0", "servers=1", "clients=4"]), may_change=False)


def endpoints(*values: str) -> SimpleNamespace:
    """Return endpoints whose servers have these values of ndb_batch_size."""

    @contextlib.contextmanager
    def session(number: int):
        rows = [("ndb_batch_size", values[number - 1]), ("version", "9.7.4")]
        yield SimpleNamespace(run=lambda statement: rows)

    return SimpleNamespace(endpoints=[f"/{n}.sock" for n in values], session=session)


def test_another_value_of_the_servers_is_another_measurement(monkeypatch) -> None:
    """Side A is what they have: blocks of two values are never mixed."""
    monkeypatch.setattr(attached.comparison, "known_to", lambda *_: ())
    load = SimpleNamespace(name="oltp_point_select", label="x")
    request = Request(("ndb_batch_size=64K",), attach="x:1", endpoints="/a", may_change=True)
    asked = [
        attached.prepare(request, None, endpoints(value), load).experiment.asked
        for value in ("32768", "32768", "16384")
    ]
    assert asked[0] == asked[1] != asked[2]


def test_side_a_is_what_the_servers_have() -> None:
    """A value that they have anyway is no difference."""
    parsed = sides.parse(["ndb_batch_size=64K"])
    has = attached.has(endpoints("32768", "32768"), parsed)
    assert has == {("mysqld", "ndb_batch_size"): "32768"}
    has = attached.has(endpoints("65536"), parsed)
    with pytest.raises(LabError, match="differ in nothing"):
        sides.without_effect(parsed, {"a": has, "b": has})


def test_servers_that_do_not_agree_are_no_side() -> None:
    """Their values are named."""
    with pytest.raises(LabError, match="do not agree on ndb_batch_size") as caught:
        attached.has(endpoints("32768", "65536"), sides.parse(["ndb_batch_size=1M"]))
    assert "32768 on /32768.sock, 65536 on /65536.sock" in caught.value.found


def asked(workload: object, **options) -> Request:
    """Return a comparison on an attached cluster that is never reached."""
    words = ("servers=1", "servers=2")
    return Request(words, workload=str(workload), attach="x:1186", endpoints="/a.sock", **options)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("writes.sql", "SELECT 1;\nBEGIN;\nUPDATE sbtest1 SET k = 1 WHERE id = 1;\nCOMMIT;\n"),
        ("locks.sql", "SELECT c FROM sbtest1 WHERE id = :int(1,rows) FOR UPDATE;\n"),
        ("script.lua", "function event()\nend\n"),
        ("program", ""),
    ],
)
def test_what_may_change_data_of_others_needs_consent(name: str, text: str, tmp_path) -> None:
    """That is whatever is not clearly read-only, such as a program or a script."""
    file = tmp_path / name
    file.write_text(text)
    file.chmod(0o700)
    workload = f"{file} {{socket}} {{seconds}}" if name == "program" else file
    with pytest.raises(LabError, match=rf"{name} may change data") as caught:
        attached.compare(asked(workload))
    assert "--may-change" in caught.value.expected
    assert ("(line 3): UPDATE" in caught.value.found) == (name == "writes.sql")
    assert attached.loaded(asked(workload, may_change=True)).label == name


def test_statements_that_only_read_need_no_consent(tmp_path) -> None:
    """Even those on tables that exist already."""
    file = tmp_path / "mine.sql"
    file.write_text("BEGIN;\nSELECT name FROM shop.items WHERE id = :int(1,9);\nCOMMIT;\n")
    workload = attached.loaded(asked(file))
    assert workload.label == "mine.sql"
    assert workload.generator.reads_only


def test_a_load_with_tables_of_its_own_stays_with_the_labs_own_clusters(tmp_path) -> None:
    """The lab could not remove them; consent changes nothing."""
    file, dump = tmp_path / "mine.sql", tmp_path / "dump.sql"
    file.write_text("SELECT 1;\n")
    dump.write_text("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=NDBCLUSTER;\n")
    with pytest.raises(LabError, match=r"mine\.sql would make tables of its own") as caught:
        attached.compare(asked(file, schema=str(dump), may_change=True))
    assert caught.value.found == "--schema dump.sql"
    script = tmp_path / "mine.lua"
    script.write_text("function prepare()\nend\nfunction event()\nend\n")
    with pytest.raises(LabError, match=r"mine\.lua would make tables of its own"):
        attached.compare(asked(script, may_change=True))
