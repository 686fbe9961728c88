from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path

import pytest
from vendor import Server

from ndblab.error import LabError
from ndblab.install import cache, download
from ndblab.install.progress import Phases

CONTENT = bytes(range(256)) * 4096
SHA256 = hashlib.sha256(CONTENT).hexdigest()
PATH = "/ndb.tar.gz"


@pytest.fixture
def server(server: Server) -> Server:
    """A server with one file."""
    server.files[PATH] = CONTENT
    return server


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "downloads/ndb.tar.gz"


@pytest.fixture
def part(target: Path) -> Path:
    target.parent.mkdir()
    return target.with_name("ndb.tar.gz.part")


def fetch(server: Server, target: Path, **more: int) -> None:
    verify = partial(download.verified_sha256, expected=SHA256, name=server.url)
    download.fetch(server.url + PATH, target, verify, Phases(show=False), **more)


def ranges(server: Server) -> list[str | None]:
    return [span for _, span in server.asked]


def test_a_broken_connection_is_resumed_where_it_broke(server: Server, target: Path) -> None:
    """No byte is sent twice."""
    server.cuts = [len(CONTENT) // 2]
    fetch(server, target)
    assert target.read_bytes() == CONTENT
    assert ranges(server) == [None, f"bytes={len(CONTENT) // 2}-"]
    assert server.sent_bytes == len(CONTENT)
    assert [p.name for p in target.parent.iterdir()] == [target.name]


def test_a_server_that_ignores_ranges_starts_again(
    server: Server, target: Path, part: Path
) -> None:
    """A whole file sent in response to a range replaces the part."""
    part.write_bytes(CONTENT[:1000])
    server.knows_ranges = False
    fetch(server, target)
    assert target.read_bytes() == CONTENT


def test_a_server_that_always_hangs_up_is_not_asked_forever(server: Server, target: Path) -> None:
    """Attempts end when one of them makes no progress."""
    server.knows_ranges, server.cuts = False, [5000] * 50
    with pytest.raises(LabError, match="cannot be fetched"):
        fetch(server, target)
    assert len(server.asked) == 2


def test_a_part_that_is_complete_is_not_downloaded_again(
    server: Server, target: Path, part: Path
) -> None:
    """A download killed between its last byte and its check is only checked."""
    part.write_bytes(CONTENT)
    fetch(server, target)
    assert target.read_bytes() == CONTENT
    assert server.sent_bytes == 0


def test_a_file_too_large_for_the_disk_is_refused_at_once(server: Server, target: Path) -> None:
    """The announced size is compared with the free space before anything is written."""
    server.said_length = 10**17
    with pytest.raises(LabError, match="Not enough disk space") as caught:
        fetch(server, target, times=5)
    assert "GB free" in caught.value.found
    assert list(target.parent.iterdir()) == []


def test_a_disk_that_fills_up_is_not_blamed_on_the_url(
    server: Server, target: Path, part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(target.parent))
    part.symlink_to("/dev/full")
    with pytest.raises(LabError, match="is full") as caught, cache.locked(lambda text: None):
        fetch(server, target)
    assert "URL" not in str(caught.value)


def test_a_host_that_refuses_connections_is_reported(target: Path) -> None:
    """The error contains the reason."""
    url = "http://127.0.0.1:9/ndb.tar.gz"
    with pytest.raises(LabError, match="cannot be fetched") as caught:
        download.fetch(url, target, lambda file: None, Phases(show=False))
    assert "refused" in str(caught.value.found)


def test_a_proxy_for_everything_is_used(
    server: Server, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pip, uv and curl do; Python's own library does not."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ALL_PROXY", server.url)
    url = f"http://vendor.invalid{PATH}"
    server.files[url] = CONTENT
    verify = partial(download.verified_sha256, expected=SHA256, name=url)
    download.fetch(url, target, verify, Phases(show=False))
    assert target.read_bytes() == CONTENT
