"""A host whose second NUMA node has CPUs and no memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.machine import commands
from virtual_machine import image
from virtual_machine import machine as virtual_machine
from virtual_machine.image import USER
from virtual_machine.sweeps import COMMAND_S, SMALL

pytestmark = pytest.mark.virtual_machine


def test_it_cannot_be_pinned_and_is_scaled(tmp_path: Path) -> None:
    """A data node there would have all its memory far away; the message names the node."""
    console = tmp_path / "console.txt"
    with virtual_machine.booted(image.ensure(), console, memory_of_nodes=(6, 0)) as machine:
        with pytest.raises(commands.ChildFailed) as caught:
            machine.run(f"./lab reproduce {SMALL} --budget pinned --dry-run", USER, COMMAND_S)
        print(caught.value.output)
        assert "NUMA node 1 of CPUs 2-3 without memory" in caught.value.output
        plan = machine.run(f"./lab reproduce {SMALL} --dry-run", USER, COMMAND_S)
        assert "budget scaled: " in plan
