from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with an empty cache, no NDB_HOME, and a PATH without any database."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "tar", "gzip", "setpriv", "rm"):
        place = next(p for p in (Path("/usr/bin"), Path("/bin")) if (p / name).exists())
        (tools / name).symlink_to(place / name)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NDB_HOME", raising=False)
    return tmp_path
