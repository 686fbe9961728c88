"""What a machine lacks, and the line that installs it on its distribution."""

from __future__ import annotations

from pathlib import Path

import pytest
from stand_ins import put_program

from ndblab.install import requirements
from ndblab.install.requirements import DEBIAN

# As printed by `cat /etc/os-release`, without links and colours.
UBUNTU = """PRETTY_NAME="Ubuntu 24.04.4 LTS"
NAME="Ubuntu"
VERSION_ID="24.04"
VERSION="24.04.4 LTS (Noble Numbat)"
VERSION_CODENAME=noble
ID=ubuntu
ID_LIKE=debian
UBUNTU_CODENAME=noble
LOGO=ubuntu-logo
"""
FEDORA = """NAME="Fedora Linux"
VERSION="41 (Forty One)"
RELEASE_TYPE=stable
ID=fedora
VERSION_ID=41
VERSION_CODENAME=""
PLATFORM_ID="platform:f41"
PRETTY_NAME="Fedora Linux 41 (Forty One)"
"""
ORACLE = """NAME="Oracle Linux Server"
VERSION="9.5"
ID="ol"
ID_LIKE="fedora"
VARIANT="Server"
VARIANT_ID="server"
VERSION_ID="9.5"
PLATFORM_ID="platform:el9"
PRETTY_NAME="Oracle Linux Server 9.5"
"""
ROCKY = 'NAME="Rocky Linux"\nID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.4"\n'
LEAP = 'NAME="openSUSE Leap"\nID="opensuse-leap"\nID_LIKE="suse opensuse"\nVERSION_ID="15.6"\n'
ARCH = 'NAME="Arch Linux"\nID=arch\nBUILD_ID=rolling\n'
HOST = Path(__file__).parents[1] / "captured/hosts/vm-2cpu-cgroup1"
APT = Path(__file__).parents[1] / "captured/apt"
EVERYTHING = ("sysbench", "gpgv", "xz", "libaio.so.1", "libnuma.so.1")


@pytest.fixture(autouse=True)
def user(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ordinary user."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)


def line_for(things, os_release: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what is typed on a distribution that lacks these things."""
    here = requirements.package_manager(os_release)
    with monkeypatch.context() as patched:
        patched.setattr(requirements, "package_manager", lambda text=os_release: here)
        return requirements.next_step([requirements.lack(thing) for thing in things])


@pytest.mark.parametrize(
    ("os_release", "line"),
    [
        (
            UBUNTU,
            "Type once: sudo apt-get install -y --no-install-recommends "
            "sysbench gpgv xz-utils libaio1t64 libnuma1 && "
            "sudo ln -sf libaio.so.1t64 /usr/lib/$(uname -m)-linux-gnu/libaio.so.1",
        ),
        (
            UBUNTU.replace("24.04", "22.04"),
            "Type once: sudo apt-get install -y --no-install-recommends "
            "sysbench gpgv xz-utils libaio1 libnuma1",
        ),
        (FEDORA, "Type once: sudo dnf install -y sysbench gnupg2 xz libaio numactl-libs"),
        (
            ORACLE,
            "Type once: sudo dnf install -y oracle-epel-release-el9 && "
            "sudo dnf install -y sysbench gnupg2 xz libaio numactl-libs",
        ),
        (
            ROCKY,
            "Type once: sudo dnf install -y epel-release && "
            "sudo dnf install -y sysbench gnupg2 xz libaio numactl-libs",
        ),
        (LEAP, "Type once: sudo zypper install -y sysbench gpg2 xz libaio1 libnuma1"),
        (ARCH, "Type once: sudo pacman -S --needed sysbench gnupg xz libaio numactl"),
    ],
)
def test_each_distribution_gets_its_own_line(
    os_release: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, in the words of its package manager; root types no sudo."""
    assert line_for(EVERYTHING, os_release, monkeypatch) == line
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert line_for(EVERYTHING, os_release, monkeypatch) == line.replace("sudo ", "")


def test_only_what_is_missing_is_in_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """EPEL is not asked for where only a library is missing."""
    assert line_for(["libaio.so.1"], ORACLE, monkeypatch) == "Type once: sudo dnf install -y libaio"


@pytest.mark.parametrize("os_release", ["", 'NAME="Alpine Linux"\nID=alpine\n'])
def test_an_unknown_distribution_gets_the_names(
    os_release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No package manager is guessed."""
    line = line_for(["sysbench", "gpgv"], os_release, monkeypatch)
    assert line == "Install with this machine's package manager: sysbench, gpgv."


def test_xz_is_needed_only_for_what_it_packed(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The brief's release is packed by gzip."""
    monkeypatch.setattr(requirements, "_can_load", lambda library: True)
    assert [lack.what for lack in requirements.of_tarball("ndb.tar.gz")] == ["gpgv"]
    assert [lack.what for lack in requirements.of_tarball("ndb.tar.xz")] == ["gpgv", "xz"]


def test_a_library_is_found_by_the_loader() -> None:
    """As mysqld finds it, wherever the distribution puts it."""
    assert requirements._can_load("libc.so.6")
    assert not requirements._can_load("libnothing.so.1")


def test_a_distribution_is_known_by_its_os_release() -> None:
    """A captured Debian."""
    debian = requirements.package_manager((HOST / "etc/os-release").read_text())
    assert debian == requirements.PackageManager("apt-get", "debian", "12")


def test_a_relative_has_the_package_manager_of_its_family() -> None:
    """By ID_LIKE, where the lab does not know the distribution itself."""
    mint = requirements.package_manager("ID=linuxmint\nID_LIKE='ubuntu debian'\nVERSION_ID='22'\n")
    assert mint.program == "apt-get"


def test_commands_come_after_the_packages_in_one_line() -> None:
    """They may need what the packages bring."""
    step = DEBIAN.next_step(["numactl", "numactl"], ["sudo a", "sudo b"], "Type")
    line = "sudo apt-get install -y --no-install-recommends numactl && sudo a && sudo b"
    assert step == f"Type: {line}"


def test_commands_need_no_packages() -> None:
    """Where only a setting is wrong, nothing is installed."""
    assert DEBIAN.next_step([], ["sudo a"]) == "Run: sudo a"


def test_without_a_known_package_manager_the_packages_are_named() -> None:
    """On Alpine Linux, for example; what does not depend on it is still a line to type."""
    alpine = requirements.package_manager('NAME="Alpine Linux"\nID=alpine\n')
    named = "Install with this machine's package manager: numactl, go."
    assert alpine.next_step(["numactl", "go"], ["sudo a"]) == f"{named} Run: sudo a"


@pytest.mark.parametrize(
    ("status", "missing"),
    [
        ("dpkg-query-fresh.txt", list(requirements._BUILD_PACKAGES)),
        ("dpkg-query-ready.txt", []),
    ],
)
def test_build_packages_that_dpkg_does_not_know_are_missing(
    status: str, missing: list[str], bare_machine: Path
) -> None:
    """On a fresh machine all of them, on a ready one none."""
    answer = (APT / status).read_text()
    put_program(bare_machine / "tools/dpkg-query", f"#!/bin/sh\necho '{answer}'\nexit 1\n")
    assert requirements.missing_packages() == missing


def test_a_removed_package_is_missing(bare_machine: Path) -> None:
    """A package of which only the configuration is left is not installed."""
    put_program(bare_machine / "tools/dpkg-query", "#!/bin/sh\necho bison config-files\n")
    assert requirements.missing_packages(["bison"]) == ["bison"]
