"""go-tpc, the load generator of TPC-C: found on PATH or in the lab's cache, or built with Go.

`go.mod` and `go.sum` pin it and all that it is built from; Go fetches them as this machine is set
up to, and refuses any other content. Nothing of the build stays but the program.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from ndblab.error import LabError
from ndblab.install import cache, requirements
from ndblab.install.binaries import sha256
from ndblab.install.progress import Phases
from ndblab.install.requirements import Lack, Tool
from ndblab.machine import commands, files

NAME, MODULE, VERSION = "go-tpc", "github.com/pingcap/go-tpc", "v1.0.12"
"""The lab's own version; one on PATH may be another."""
BUILD_BYTES = 1_500_000_000
"""Disk space that a build needs for a while, for modules and Go's own cache."""
_VERSION = re.compile(r"^Release [Vv]ersion:\s*(\S+)$", re.MULTILINE)
_PINS = Path(__file__).parent


@dataclass(frozen=True)
class GoTpc:
    """A go-tpc. `version` is what it says itself, with the first digits of its SHA-256."""

    program: Path
    version: str

    def __str__(self) -> str:
        return f"{self.version} ({self.program})"


def find() -> GoTpc | None:
    """Find go-tpc on PATH or in the lab's cache, install nothing; LabError if it does not run."""
    program = place()
    return _described(program) if program else None


def place() -> Path | None:
    """Return the path of go-tpc without running it; None if there is none."""
    program = Path(shutil.which(NAME) or _place() / NAME)
    return program if program.exists() else None


def lacks() -> str:
    """Say in one line what this machine lacks to have go-tpc; nothing if it has or can build it."""
    if not takes():
        return ""
    step = requirements.next_step(takes(), verb="Run").rstrip(".")
    return f"{NAME} is not installed, and there is no Go to build it ({step})"


def takes() -> list[Lack]:
    """List what go-tpc cannot be built without and only root can install."""
    is_buildable = place() or shutil.which("go")
    return [] if is_buildable else [requirements.lack("Go", "to build go-tpc, for TPC-C", False)]


def ensure(progress: bool = True) -> GoTpc:
    """Find go-tpc, or build it; LabError if there is none and no Go, or the build fails."""
    if here := find():
        return here
    if why := lacks():
        raise LabError(
            f"{NAME} is missing, which loads a cluster with TPC-C",
            found=why.partition(" (")[0],
            expected=f"{NAME} on PATH, or Go 1.21 or newer to build {VERSION}",
            next_step=f"{requirements.next_step(takes())}\n            Then repeat the command.",
        )
    phases = Phases(progress)
    with commands.exit_on_sigterm(), cache.locked(phases.say) as folder:
        # If this process waited for another installer, the work is done.
        return find() or _built(folder, phases)


def _place() -> Path:
    return cache.location() / f"{NAME}-{VERSION}"


def _described(program: Path) -> GoTpc:
    text = commands.output([program, "version"], what=f"{program} does not run")
    match = _VERSION.search(text)
    return GoTpc(program, f"{match[1] if match else 'unknown'} ({sha256(program)[:12]})")


def _built(folder: Path, phases: Phases) -> GoTpc:
    """Build go-tpc below the cache `folder`, in a folder that is gone afterwards."""
    cache.need_space(folder, BUILD_BYTES, f"building {NAME}")
    work = folder / f"{NAME}.partial"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        for name in ("go.mod", "go.sum"):
            shutil.copyfile(_PINS / name, work / name)
        done = work / "done"
        done.mkdir()
        with phases.timed(f"build {NAME} {VERSION}"):
            commands.run(
                ["go", "build", *_OPTIONS, "-o", done / NAME, f"{MODULE}/cmd/{NAME}"],
                what=f"{NAME} {VERSION} cannot be built",
                log=folder / f"{NAME}.log",
                env=_environment(work),
                cwd=work,
            )
        _described(done / NAME)
        files.replace_folder(done, _place())
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return _described(_place() / NAME)


_OPTIONS = (
    "-trimpath", "-buildvcs=false", "-modcacherw", "-mod=readonly",
    f"-ldflags=-s -w -X main.version={VERSION}",
)  # fmt: skip
"""Modules as pinned, nothing of this machine in the program; folders that can be deleted again."""


def _environment(work: Path) -> dict[str, str]:
    """Keep Go's caches in the build's folder, and Go itself the one that is installed."""
    own = {"GOMODCACHE": work / "modules", "GOCACHE": work / "cache", "GOTMPDIR": work}
    fixed = {"CGO_ENABLED": "0", "GOFLAGS": "", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    return {**os.environ, **{name: str(place) for name, place in own.items()}, **fixed}


TOOL = Tool(NAME, "TPC-C", lambda: str(find() or ""), lacks, lambda: str(ensure()), takes)
