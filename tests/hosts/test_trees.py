"""Folders from host to host: whole copies, or none."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.hosts import trees


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with a program, a link to it, data, and an empty folder."""
    folder = tmp_path / "source"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/mysqld").write_bytes(os.urandom(300_000))
    (folder / "bin/mysqld").chmod(0o755)
    (folder / "current").symlink_to("bin/mysqld")
    (folder / "loader").symlink_to("/lib64/ld.so")
    (folder / "share/ümlaut").mkdir(parents=True)
    os.link(folder / "bin/mysqld", folder / "share/mysqld")
    return folder


def packed(folder: Path, *patterns: str) -> io.BytesIO:
    """The stream of a folder."""
    stream = io.BytesIO()
    trees.pack(folder, stream, patterns)
    stream.seek(0)
    return stream


def described(folder: Path) -> dict[str, object]:
    """Names below a folder, with their permissions and contents."""
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
        if path.name != trees.STAMP
    }


def test_a_copy_is_equal(source: Path, tmp_path: Path):
    """Names, contents, permissions and links."""
    copy = tmp_path / "there/copy"
    trees.replace(packed(source), copy)
    assert described(copy) == described(source)


def test_an_old_copy_is_replaced(source: Path, tmp_path: Path):
    """Nothing of it is left."""
    copy = tmp_path / "copy"
    trees.replace(packed(source), copy)
    (source / "bin/mysqld").unlink()
    trees.replace(packed(source), copy)
    assert described(copy) == described(source)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "source"]


def test_a_copy_that_breaks_off_leaves_the_old_one(source: Path, tmp_path: Path):
    """And nothing half-written, under whatever name."""
    copy = tmp_path / "copy"
    trees.replace(packed(source), copy)
    half = io.BytesIO(packed(source).getvalue()[:150_000])
    with pytest.raises(LabError, match="incomplete"):
        trees.replace(half, copy)
    assert described(copy) == described(source)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "source"]


def test_a_folder_with_other_files_is_refused(tmp_path: Path):
    """The lab replaces what it has made, never a user's folder."""
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(LabError, match="contains other files") as caught:
        trees.replace(io.BytesIO(), tmp_path)
    assert "thesis.tex" in str(caught.value)


def test_only_what_matches_is_packed(source: Path, tmp_path: Path):
    """Logs, say, and not the data beside them; nothing if nothing matches."""
    (tmp_path / "logs").mkdir()
    trees.unpack(packed(source, "bin/*"), tmp_path / "logs")
    trees.unpack(packed(source, "*.log"), tmp_path / "logs")
    unpacked = [str(path.relative_to(tmp_path / "logs")) for path in tmp_path.glob("logs/**/*")]
    assert sorted(unpacked) == ["bin", "bin/mysqld"]


def test_a_stream_writes_nothing_outside_and_no_link_unless_allowed(tmp_path: Path):
    """What another host sends cannot change other files here."""
    stream, inner = io.BytesIO(), tmp_path / "inner"
    inner.mkdir()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name in ("../outside", f"{tmp_path}/absolute", "good"):
            archive.addfile(tarfile.TarInfo(name))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo("link/through"))
    stream.seek(0)
    trees.unpack(stream, inner)
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]
    assert (inner / "good").is_file()
    assert not (inner / "link").is_symlink()
