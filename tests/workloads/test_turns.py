"""The file by which the connected clients of two loads take turns, and commands that use it."""

from __future__ import annotations

import ctypes
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.workloads import turns
from ndblab.workloads.load_generator import Command

C_TYPES = {
    "double": ctypes.c_double, "uint32_t": ctypes.c_uint32,
    "char": ctypes.c_char, "uint8_t": ctypes.c_uint8,
}  # fmt: skip


def struct_of_clients() -> type[ctypes.Structure]:
    """The file as the clients read it: the struct that their script declares."""
    [body] = re.findall(r"typedef struct \{(.*?)\} ndblab_turns;", turns.SCRIPT.read_text(), re.S)
    fields = []
    for kind, names in re.findall(r"(\w+) ([^;]+);", body):
        for name, sizes in re.findall(r"(\w+)((?:\[\d+\])*)", names):
            known = C_TYPES[kind]
            for size in reversed(re.findall(r"\d+", sizes)):
                known = known * int(size)
            fields.append((name, known))
    return type("Turns", (ctypes.Structure,), {"_fields_": fields})


def as_clients_read(shared: turns.Turns) -> ctypes.Structure:
    return struct_of_clients().from_buffer_copy(Path(shared.of("a").file).read_bytes())


def connect(shared: turns.Turns, side: str, *clients: int, does: int = 1) -> None:
    """Do what these clients of a side do once they are connected: wait, or work (2)."""
    first = struct_of_clients().clients.offset + turns.MOST_CLIENTS * turns.SIDES.index(side)
    with Path(shared.of(side).file).open("r+b") as file:
        for client in clients:
            file.seek(first + client)
            file.write(bytes([does]))


def test_a_command_that_takes_turns_runs_its_script_inside_another():
    """Program and options stay, and so does what the program needs in its environment."""
    argv = ["/opt/sysbench", "oltp_point_select", "--threads=8", "run"]
    plain = Command(argv, {"LD_LIBRARY_PATH": "/opt/lib"}, "db2")
    command = turns.taken(plain, turns.Turn("/tmp/turns", "b"))
    assert command.argv == ["/opt/sysbench", str(turns.SCRIPT), "--threads=8", "run"]
    assert command.env == {
        "LD_LIBRARY_PATH": "/opt/lib", "NDBLAB_TURNS": "/tmp/turns", "NDBLAB_TURNS_SIDE": "b",
        "NDBLAB_TURNS_SCRIPT": "oltp_point_select",
    }  # fmt: skip
    assert command.host == "db2"
    assert plain.argv == argv
    assert plain.env == {"LD_LIBRARY_PATH": "/opt/lib"}


def test_clients_read_every_variable_that_a_command_sets():
    """The script is a file of the library, and asks for no name that no command has."""
    command = turns.taken(Command(["sysbench", "x"], {}), turns.Turn("f", "a"))
    asked = re.findall(r'os\.getenv\("(\w+)"\)', turns.SCRIPT.read_text())
    assert sorted(asked) == sorted(command.env)


def test_clients_find_in_the_file_what_was_written():
    """Both programs agree on where each number lies, and on the size of the whole."""
    with turns.opened() as shared:
        assert Path(shared.of("a").file).stat().st_size == ctypes.sizeof(struct_of_clients())
        before = as_clients_read(shared)
        assert (before.release_s, before.begin_s, before.number) == (0, 0, 0)
        shared.begin(1234.5, 0.25, "abba")
        fields = as_clients_read(shared)
        assert (fields.release_s, fields.begin_s, fields.turn_s) == (0, 1234.5, 0.25)
        assert (fields.number, fields.sides) == (4, b"abba")
        now_s = time.monotonic()
        shared.release()
        assert now_s < as_clients_read(shared).release_s < now_s + 1
        assert as_clients_read(shared).begin_s == 1234.5


def test_the_last_turn_and_the_last_client_have_a_place_of_their_own():
    """As many as the file has room for, and nothing beside them is overwritten."""
    with turns.opened() as shared:
        shared.begin(1.0, 1.0, "ab" * (turns.MOST_TURNS // 2))
        assert bytes(as_clients_read(shared).sides) == b"ab" * (turns.MOST_TURNS // 2)
        assert (shared.connected("a"), shared.connected("b")) == (0, 0)
        connect(shared, "b", turns.MOST_CLIENTS - 1)
        assert as_clients_read(shared).clients[1][turns.MOST_CLIENTS - 1] == 1
        assert (shared.connected("a"), shared.connected("b")) == (0, 1)


def test_more_turns_than_there_is_room_for_are_refused():
    """Before anything is written: clients would read the turns of nobody."""
    with turns.opened() as shared:
        with pytest.raises(ValueError, match="1001 turns are more than 1000"):
            shared.begin(1.0, 1.0, "a" * (turns.MOST_TURNS + 1))
        assert not any(Path(shared.of("a").file).read_bytes())


def test_clients_learn_when_turns_begin_after_all_else(monkeypatch: pytest.MonkeyPatch):
    """From that moment on they read the sides; they must be there."""
    seen = []
    packed = struct.pack_into

    def pack_into(form: str, memory, at: int, value: float) -> None:
        packed(form, memory, at, value)
        fields = struct_of_clients().from_buffer_copy(memory)
        seen.append((fields.begin_s > 0, fields.turn_s, fields.number, fields.sides))

    with turns.opened() as shared:
        monkeypatch.setattr(struct, "pack_into", pack_into)
        shared.begin(9.0, 2.0, "ba")
        monkeypatch.undo()
    begun = [rest for is_begun, *rest in seen if is_begun]
    assert begun == [[2.0, 2, b"ba"]]


@pytest.mark.parametrize(
    ("connected", "ended", "at_least_s"), [(4, False, 0.0), (3, True, 0.0), (3, False, 0.3)]
)
def test_waiting_for_clients_ends_with_them_with_their_load_or_with_the_time(
    connected: int, ended: bool, at_least_s: float
):
    """A load that could not connect is told at once, not after its time."""
    with turns.opened() as shared:
        connect(shared, "b", *range(8))
        connect(shared, "a", *range(connected))
        began_s = time.monotonic()
        shared.wait_connected("a", 4, 0.3 if at_least_s else 60, lambda: ended)
        assert at_least_s <= time.monotonic() - began_s < 10


def test_waiting_sees_clients_that_connect_meanwhile():
    """Another process writes to the file; no message is needed."""
    with turns.opened() as shared:
        turn = shared.of("a")
        first = struct_of_clients().clients.offset
        program = f"""sleep 0.2; printf '\\001\\001' |
dd of={turn.file} bs=1 seek={first} conv=notrunc status=none"""
        with subprocess.Popen(["sh", "-c", program]) as clients:
            shared.wait_connected("a", 2, 60, lambda: False)
            assert shared.connected("a") == 2
        assert clients.returncode == 0


def test_waiting_for_the_last_queries_ends_with_them_or_with_the_time():
    """Those of the other side do not count; clients that work are connected, too."""
    with turns.opened() as shared:
        connect(shared, "a", 0, 1)
        connect(shared, "b", 0, does=2)
        assert shared.wait_finished("a", 60) == 0
        began_s = time.monotonic()
        assert shared.wait_finished("b", 0.3) == 1
        assert 0.3 <= time.monotonic() - began_s < 10
        assert (shared.connected("a"), shared.connected("b")) == (2, 1)


def test_nothing_is_left_of_the_turns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """However the block ends; and two blocks at a time have each their own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with turns.opened() as one, turns.opened() as other:
        assert one.of("a").file == one.of("b").file != other.of("a").file
        assert len(list(tmp_path.iterdir())) == 2
    assert not list(tmp_path.iterdir())
    with pytest.raises(ZeroDivisionError), turns.opened():
        assert 1 / 0
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_hold_the_file_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """The user reads which folder it is, and how to choose another."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(LabError, match="cannot be made") as caught, turns.opened():
        pytest.fail("it was made")
    assert str(tmp_path / "gone") in caught.value.expected
    assert "TMPDIR" in caught.value.next_step


def test_where_no_folder_can_hold_the_file_all_that_were_tried_are_named(tmp_path: Path):
    """TMPDIR and the usual ones: the first use of any of them, on a full disk."""
    program = f"""
import tempfile
from ndblab.error import LabError
from ndblab.workloads import turns
tempfile._candidate_tempdir_list = lambda: [{str(tmp_path / "gone")!r}]
try:
    turns.opened().__enter__()
except LabError as error:
    print(error.found, error.next_step)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert str(tmp_path / "gone") in done.stdout, done.stderr
    assert "TMPDIR" in done.stdout


def test_a_full_folder_is_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A file that is too large for its place is an error that the user reads, and is removed."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, usual[1]))
    try:
        with pytest.raises(LabError, match="cannot be made") as caught, turns.opened():
            pytest.fail("it was made")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert str(tmp_path) in caught.value.expected
    assert not list(tmp_path.iterdir())
