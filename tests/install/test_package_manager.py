"""Which package manager a distribution has, and what is typed to install with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.install import package_manager

HOST = Path(__file__).parents[1] / "captured/hosts/vm-2cpu-cgroup1"


@pytest.fixture(autouse=True)
def user(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ordinary user."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)


def test_a_distribution_is_known_by_its_os_release() -> None:
    """A captured Debian."""
    debian = package_manager.of((HOST / "etc/os-release").read_text())
    assert debian == package_manager.PackageManager("apt-get", "debian", "12")


def test_a_relative_has_the_package_manager_of_its_family() -> None:
    """By ID_LIKE, where the lab does not know the distribution itself."""
    mint = package_manager.of("ID=linuxmint\nID_LIKE='ubuntu debian'\nVERSION_ID='22'\n")
    assert mint.program == "apt-get"


def test_commands_come_after_the_packages_in_one_line() -> None:
    """They may need what the packages bring."""
    step = package_manager.DEBIAN.next_step(["numactl", "numactl"], ["sudo a", "sudo b"], "Type")
    line = "sudo apt-get install -y --no-install-recommends numactl && sudo a && sudo b"
    assert step == f"Type: {line}"


def test_commands_need_no_packages() -> None:
    """Where only a setting is wrong, nothing is installed."""
    assert package_manager.DEBIAN.next_step([], ["sudo a"]) == "Run: sudo a"


def test_without_a_known_package_manager_the_packages_are_named() -> None:
    """On Alpine Linux, for example; what does not depend on it is still a line to type."""
    alpine = package_manager.of('NAME="Alpine Linux"\nID=alpine\n')
    named = "Install with this machine's package manager: numactl, go."
    assert alpine.next_step(["numactl", "go"]) == named
    assert alpine.next_step(["numactl", "go"], ["sudo a"]) == f"{named} Run: sudo a"
