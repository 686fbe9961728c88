"""What a machine lacks for a vendor's tarball, and the line that installs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.install import package_manager, requirements

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
EVERYTHING = ("sysbench", "gpgv", "xz", "libaio.so.1", "libnuma.so.1")


@pytest.mark.parametrize(
    ("os_release", "line"),
    [
        (
            UBUNTU,
            "Run: sudo apt-get install -y --no-install-recommends "
            "sysbench gpgv xz-utils libaio1t64 libnuma1 && "
            "sudo ln -sf libaio.so.1t64 /usr/lib/$(uname -m)-linux-gnu/libaio.so.1",
        ),
        (
            UBUNTU.replace("24.04", "22.04"),
            "Run: sudo apt-get install -y --no-install-recommends "
            "sysbench gpgv xz-utils libaio1 libnuma1",
        ),
        (FEDORA, "Run: sudo dnf install -y sysbench gnupg2 xz libaio numactl-libs"),
        (
            ORACLE,
            "Run: sudo dnf install -y oracle-epel-release-el9 && "
            "sudo dnf install -y sysbench gnupg2 xz libaio numactl-libs",
        ),
        (
            ROCKY,
            "Run: sudo dnf install -y epel-release && "
            "sudo dnf install -y sysbench gnupg2 xz libaio numactl-libs",
        ),
        (LEAP, "Run: sudo zypper install -y sysbench gpg2 xz libaio1 libnuma1"),
        (ARCH, "Run: sudo pacman -S --needed sysbench gnupg xz libaio numactl"),
    ],
)
def test_each_distribution_gets_its_own_line(
    os_release: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, in the words of its package manager; root types no sudo."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert requirements.next_step(EVERYTHING, package_manager.of(os_release)) == line
    monkeypatch.setattr("os.geteuid", lambda: 0)
    of_root = requirements.next_step(EVERYTHING, package_manager.of(os_release))
    assert of_root == line.replace("sudo ", "")


def test_only_what_is_missing_is_in_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """EPEL is not asked for where only a library is missing."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    line = requirements.next_step(["libaio.so.1"], package_manager.of(ORACLE))
    assert line == "Run: sudo dnf install -y libaio"


@pytest.mark.parametrize("os_release", ["", 'NAME="Alpine Linux"\nID=alpine\n'])
def test_an_unknown_distribution_gets_the_names(os_release: str) -> None:
    """No package manager is guessed."""
    line = requirements.next_step(["sysbench", "gpgv"], package_manager.of(os_release))
    assert line == "Install with this machine's package manager: sysbench, gpgv."


def test_xz_is_needed_only_for_what_it_packed(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The brief's release is packed by gzip."""
    monkeypatch.setattr(requirements, "_can_load", lambda library: True)
    assert requirements.missing("ndb.tar.gz") == ["gpgv"]
    assert requirements.missing("ndb.tar.xz") == ["gpgv", "xz"]


def test_a_library_is_found_by_the_loader() -> None:
    """As mysqld finds it, wherever the distribution puts it."""
    assert requirements._can_load("libc.so.6")
    assert not requirements._can_load("libnothing.so.1")
