"""Sandboxes: folders and ports that no other campaign uses."""

from __future__ import annotations

import socket

import pytest

from campaign import sandbox
from ndblab.error import LabError


def test_a_second_campaign_waits_for_the_folders_of_the_first(tmp_path, monkeypatch):
    """In the end it says so, and kills nothing of the other one."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    monkeypatch.setattr(sandbox, "PATIENCE_S", 0)
    with (
        sandbox.opened(0),
        pytest.raises(LabError, match="Another campaign"),
        sandbox.opened(0),
    ):
        pass


def test_campaigns_in_two_folders_have_ports_of_their_own(tmp_path, monkeypatch):
    """They can run at the same time; ports in use are avoided."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    with sandbox.opened(0) as first:
        monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "other"))
        with sandbox.opened(0) as second, socket.socket() as listening:
            assert first.home != second.home
            assert abs(first.port - second.port) >= sandbox.PORTS_EACH
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(("127.0.0.1", second.port + sandbox.PORTS_EACH))
            listening.listen()
            with sandbox.opened(1) as third:
                assert third.port > second.port + sandbox.PORTS_EACH
