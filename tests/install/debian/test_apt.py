from __future__ import annotations

from pathlib import Path

from ndblab.install.debian import apt

CAPTURED = Path(__file__).parents[2] / "captured/apt"


def captured(name: str) -> str:
    return (CAPTURED / name).read_text()


def test_the_mirror_is_the_one_of_the_main_archive() -> None:
    """Of the machine's archives neither security nor updates is taken for Debian's main one."""
    assert apt.mirror_from(captured("indextargets.txt"), []) == "http://mirror.example/debian/"


def test_third_party_archives_are_no_mirror() -> None:
    """An archive that is not Debian's own is never asked for Debian's packages."""
    assert apt.mirror_from("NodeSource|nodistro|http://node.example/\n", []) is None


def test_a_machine_without_package_lists_is_asked_for_its_source_files() -> None:
    """On a fresh machine both forms of source files give the mirror."""
    for name in ("debian.sources", "sources.list"):
        address = apt.mirror_from("", [captured(name)])
        assert address is not None
        assert address.rstrip("/") == "http://mirror.example/debian"


def test_disabled_and_security_sources_are_passed_over() -> None:
    """A source that is switched off or carries security updates only gives no mirror."""
    security = "deb http://mirror.example/debian-security bookworm-security main\n"
    disabled = "Enabled: no\nTypes: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\n"
    comment = "# deb http://mirror.example/debian bookworm main\n"
    assert apt.mirror_from("", [security, disabled, comment]) is None


def test_options_of_a_source_line_are_no_address() -> None:
    """Options in brackets, with or without blanks, are not read as the address."""
    line = "deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm main\n"
    assert apt.mirror_from("", [line]) == "http://mirror.example/debian"


def test_progress_is_read_from_apts_status_lines() -> None:
    """Each status line of a download gives its percentage, and other lines give none."""
    percents = [apt.parse_progress(line) for line in captured("progress.txt").splitlines()]
    assert percents[0] == 0
    assert percents[-1] == 100
    assert apt.parse_progress("Reading package lists...") is None


def test_an_expired_mirror_is_told_from_a_failing_one() -> None:
    """Only a list that is merely out of date may be used all the same."""
    text = captured("update-expired.txt")
    assert apt.is_expired(text)
    assert not apt.is_expired(text + "E: The repository is not signed.\n")
    assert not apt.is_expired("")


def test_only_network_settings_of_the_machine_are_taken() -> None:
    """A proxy is kept; switched-off checks and hooks of the machine are not."""
    proxy = 'Acquire::http::Proxy "http://proxy.example:3128";'
    dump = f'Acquire::Check-Valid-Until "false";\n{proxy}\nAcquire::Languages "";\n'
    assert apt.network_settings(dump) == [proxy]
