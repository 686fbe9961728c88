from __future__ import annotations

from pathlib import Path

from ndblab.install import apt

CAPTURED = Path(__file__).parents[1] / "captured/apt"


def captured(name: str) -> str:
    return (CAPTURED / name).read_text()


def test_the_mirror_is_the_one_of_the_main_archive() -> None:
    """Neither security nor updates is taken for Debian's main archive."""
    assert apt.mirror_from(captured("indextargets.txt"), []) == "http://mirror.example/debian/"


def test_third_party_archives_are_no_mirror() -> None:
    """Only Debian's own archive is used for Debian's packages."""
    assert apt.mirror_from("NodeSource|nodistro|http://node.example/\n", []) is None


def test_without_package_lists_the_mirror_comes_from_the_source_files() -> None:
    """On a fresh machine both formats of source files are read."""
    for name in ("debian.sources", "sources.list"):
        address = apt.mirror_from("", [captured(name)])
        assert address is not None
        assert address.rstrip("/") == "http://mirror.example/debian"


def test_disabled_and_security_sources_are_ignored() -> None:
    """A source that is disabled or has only security updates is no mirror."""
    security = "deb http://mirror.example/debian-security bookworm-security main\n"
    disabled = "Enabled: no\nTypes: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\n"
    comment = "# deb http://mirror.example/debian bookworm main\n"
    assert apt.mirror_from("", [security, disabled, comment]) is None


def test_options_of_a_source_line_are_ignored() -> None:
    """Options in brackets, with or without blanks, are not taken for the address."""
    line = "deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm main\n"
    assert apt.mirror_from("", [line]) == "http://mirror.example/debian"


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
