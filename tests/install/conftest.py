"""A server that downloads come from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import stand_ins
import vendor


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[vendor.Server]:
    """A server on this machine, without a file yet; no proxy is asked for it."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with vendor.serving() as serving:
        yield serving


@pytest.fixture
def machine(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that lacks only the cluster."""
    stand_ins.put_sysbench(bare_machine / "bin")
    monkeypatch.setenv("PATH", f"{bare_machine}/bin:{os.environ['PATH']}")
    return bare_machine
