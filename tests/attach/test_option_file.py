"""Option files, as my_print_defaults of MySQL 9.7 reads them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ndblab.attach import option_file


@pytest.fixture
def options(tmp_path: Path):
    """Read the group [client] of a file with these bytes."""

    def read(text: bytes) -> dict[str, str]:
        file = tmp_path / "my.cnf"
        file.write_bytes(text)
        return option_file.read(file, "client")

    return read


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b"x=bench # note", "bench"),
        (b'x="p#ss" # y', "p#ss"),
        (b"x='p#ss'", "p#ss"),
        (b"x=p#ss", "p"),
        (b'x="a\\"b#c" # y', 'a"b#c'),
        (b"x=it's # in quotes", "it's # in quotes"),
        (b'x="unclosed # too', '"unclosed # too'),
        (b'x="a b" c', '"a b" c'),
        (b'x="', '"'),
        (b"x=a\\sb\\\\c\\qd\\", "a b\\c\\qd\\"),
        (b"  x = y=z\r", "y=z"),
        (b"loose_x=y", "y"),
        (b"x=", ""),
        (b"x=\xa0y\xa0", "y"),
        ("x=grüße".encode(), "grüße"),
    ],
)
def test_a_value_is_what_mysql_takes_it_for(options, line: bytes, value: str) -> None:
    """Quotes, escapes, comments and white space are those of its own parser."""
    assert options(b"[client]\n" + line) == {"x": value}


def test_the_last_of_several_counts_in_groups_of_any_case(options) -> None:
    """Other groups may hold anything, such as an option twice; a deeper indent means nothing."""
    text = b"[mysqld]\nreplicate-do-db=a\nreplicate-do-db=b\nskip-x\n[client]\nuser=a\n"
    text += b"# gr\xfc\xdfe\n; x=y\n[mysqld]\nport=1\n[CLIENT ]\n  port=3\n      user=b\npassword\n"
    assert options(text) == {"user": "b", "port": "3"}


def test_bytes_of_another_encoding_are_kept(options) -> None:
    """A password is bytes: a server gets those of the file."""
    assert os.fsencode(options(b"[client]\nx=gr\xfc\xdfe")["x"]) == b"gr\xfc\xdfe"


def test_included_files_are_read_where_they_stand(options, tmp_path: Path) -> None:
    """Of a folder those named *.cnf; a missing file is skipped, and a circle ends."""
    (tmp_path / "d").mkdir()
    for name in ("b.cnf", "a.cnf", "z.ini"):
        (tmp_path / "d" / name).write_text(f"[client]\nuser={name}\n{name[0]}=1\n")
    here = os.fsencode(tmp_path)
    known = options(
        b"!include %b/none\n!include %b/my.cnf\n[client]\nuser=x\nport=1\n!includedir %b/d\nport=2"
        % (here, here, here)
    )
    assert known == {"user": "b.cnf", "port": "2", "a": "1", "b": "1"}


@pytest.mark.parametrize("text", [b"x=1\n[client]\n", b"[client\nx=1\n", b"\xef\xbb\xbf[client]\n"])
def test_what_mysql_refuses_is_refused(options, text: bytes) -> None:
    """The message names the line."""
    with pytest.raises(ValueError, match="in line 1 of"):
        options(text)


def test_a_file_that_everybody_may_write_is_refused(options, tmp_path: Path) -> None:
    """MySQL's programs ignore it: its account may be anybody's."""
    options(b"[client]\n")
    (tmp_path / "my.cnf").chmod(0o666)
    with pytest.raises(ValueError, match="every user"):
        option_file.read(tmp_path / "my.cnf", "client")
