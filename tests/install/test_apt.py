from __future__ import annotations

import re
from pathlib import Path

from ndblab.install import apt

CAPTURED = Path(__file__).parents[1] / "captured/apt"


def captured(name: str) -> str:
    return (CAPTURED / name).read_text()


def test_the_mirror_is_the_one_of_the_main_archive() -> None:
    """Neither security nor updates is taken for Debian's main archive."""
    assert apt.mirror_from(captured("indextargets.txt")) == "http://mirror.example/debian/"


def test_third_party_archives_are_no_mirror() -> None:
    assert apt.mirror_from("NodeSource|nodistro|http://node.example/\n") is None


def test_warnings_of_apt_are_no_targets() -> None:
    """It still ends well, if Ubuntu's archive is configured twice, say."""
    warned = "W: Target Packages (main/Packages) is configured multiple times in a and b"
    assert apt.mirror_from(f"Ubuntu|noble|http://ubuntu.example/\n{warned}\n") is None


def test_without_package_lists_the_mirror_is_where_an_update_would_go() -> None:
    """On a fresh machine; other archives, and those of security and updates, are not it."""
    fresh = captured("update-print-uris.txt")
    assert apt.mirror_from("", fresh) == "http://mirror.example/debian/"
    assert apt.mirror_from("", fresh.replace("/debian/", "/ubuntu/")) is None
    others = re.sub(r"dists/bookworm/\S+", "dists/bookworm-updates/InRelease", fresh)
    assert apt.mirror_from("", others) is None


def test_progress_is_read_from_apts_status_lines() -> None:
    """Each status line of a download has a percentage, other lines have none."""
    percents = [apt.parse_progress(line) for line in captured("progress.txt").splitlines()]
    assert percents[0] == 0
    assert percents[-1] == 100
    assert apt.parse_progress("Reading package lists...") is None


def test_an_expired_mirror_differs_from_a_failing_one() -> None:
    """A list that is only out of date may still be used."""
    text = captured("update-expired.txt")
    assert apt.is_expired(text)
    assert not apt.is_expired(text + "E: The repository is not signed.\n")
    assert not apt.is_expired("")


def test_only_network_settings_of_the_machine_are_taken() -> None:
    """A proxy is used; the machine's disabled checks and its hooks are not."""
    proxy = 'Acquire::http::Proxy "http://proxy.example:3128";'
    dump = f'Acquire::Check-Valid-Until "false";\n{proxy}\nAcquire::Languages "";\n'
    assert apt.network_settings(dump) == [proxy]
