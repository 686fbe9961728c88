"""The virtual machine that all tests of it share, booted once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from virtual_machine import image
from virtual_machine import machine as virtual_machine
from virtual_machine.machine import VirtualMachine


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualMachine]:
    """The booted machine, with this checkout in it."""
    console = tmp_path_factory.mktemp("machine") / "console.txt"
    with virtual_machine.booted(image.ensure(), console) as booted:
        yield booted
