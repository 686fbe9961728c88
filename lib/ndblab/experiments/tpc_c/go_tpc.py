"""go-tpc, the load generator of TPC-C: found on PATH or in the lab's cache, or built with Go; and
what it prints.

`go.mod` and `go.sum` pin it and all that it is built from; Go fetches them as this machine is set
up to, and refuses any other content. Nothing of the build stays but the program.

go-tpc always exits with 0. It counts a transaction that fails under its kind with "_ERR", prints
why, and goes on with another one: it repeats none. Its percentiles have one significant digit, and
nothing below 1 ms.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ndblab.error import LabError
from ndblab.experiments.tpc_c import TRANSACTIONS
from ndblab.formatting import count
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


@dataclass(frozen=True)
class GoTpc:
    """A go-tpc. `version` is what it says itself, with the first digits of its SHA-256."""

    program: Path
    version: str

    def __str__(self) -> str:
        return f"{self.version} ({self.program})"


def find() -> GoTpc | None:
    """Find go-tpc on PATH or in the lab's cache, install nothing; LabError if it does not run."""
    return _described(program) if (program := place()) else None


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
    done = work / "done"
    shutil.rmtree(work, ignore_errors=True)
    done.mkdir(parents=True)
    try:
        for name in ("go.mod", "go.sum"):
            shutil.copyfile(Path(__file__).with_name(name), work / name)
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

EARLY_S = 0.3
"""go-tpc ends when all its clients have ended; if it ends early by more than this, they cannot have
worked to the end."""
ABORTS = (1205, 1213, 1297)
"""MySQL's errors of a transaction that NDB gives up, and which a client may repeat: lock wait
timeout, deadlock, temporary error of NDB."""
_FAILED = "_ERR"
_STATISTICS = re.compile(r"^\[(Current|Summary)\] (\w+)\s+- (.*)$")
_ERROR = re.compile(
    r"^(?:\[[^\]]*\] )?execute run failed, err (.*?)"
    r"(?=^(?:\[[^\]]*\] )?execute run failed|^\[(?:Current|Summary)\]|^Finished|\Z)",
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"Error (\d+)(?: \(\w+\))?: ")
_STATEMENT = re.compile(
    r"exec (?:(SELECT|DELETE)\b.*?\bFROM|(INSERT)\s+INTO|(UPDATE))\s+(\w+)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Kind:
    """Transactions of one kind: those that committed, and those that did not."""

    committed: int = 0
    failed: int = 0
    latency_avg_ms: float | None = None
    latency_p95_ms: float | None = None


@dataclass(frozen=True)
class Interval:
    """What was counted from the end of the previous interval to `ended_s` after the start."""

    ended_s: float
    committed: int
    failed: int


@dataclass(frozen=True)
class Outcome:
    """What became of a load.

    `status` is "ok", or one line on why the load does not count. `errors` counts failed
    transactions by MySQL's error and statement.
    """

    status: str
    intervals: tuple[Interval, ...] = ()
    kinds: dict[str, Kind] = field(default_factory=dict)
    errors: dict[tuple[int, str], int] = field(default_factory=dict)

    @property
    def committed(self) -> int:
        """Transactions of all kinds that committed."""
        return sum(kind.committed for kind in self.kinds.values())

    @property
    def mean_ms(self) -> float | None:
        """Mean latency of all committed transactions, warm-up and end included; None for none."""
        total = sum((kind.latency_avg_ms or 0.0) * kind.committed for kind in self.kinds.values())
        return total / self.committed if self.committed else None


def outcome(lines: Sequence[tuple[float, str]], seconds: float, ended: str = "") -> Outcome:
    """Read everything that go-tpc printed in a run of `seconds`.

    Each of `lines` has the seconds from the start until it arrived. `ended` says in words why the
    run did not end as it should.
    """
    text = "".join(line for _, line in lines)
    if ended:
        last = commands.last_line(text)
        return Outcome(f"{ended}: {last}" if last else ended)
    finished_s = next((at for at, line in lines if line.startswith("Finished")), None)
    if finished_s is None:
        return Outcome(f"go-tpc printed no result: {commands.last_line(text) or 'nothing at all'}")
    errors, unknown = _errors(text)
    why = " ".join(unknown[0].split())[:300] if unknown else ""
    read = Outcome("ok", tuple(_intervals(lines)), _kinds(lines), errors)
    if finished_s < seconds - EARLY_S:
        status = f"go-tpc ended by itself after {finished_s:.1f} s of {seconds:g} s"
        return replace(read, status=f"{status}: {why}" if why else status)
    if unknown:
        return replace(read, status=f"{count(len(unknown), 'transaction')} failed: {why}")
    return read if read.committed else replace(read, status="no transaction committed")


def _statistics(
    lines: Sequence[tuple[float, str]], what: str
) -> Iterator[tuple[float, str, dict[str, float]]]:
    """Yield the time, kind and values of lines on an interval ("Current") or on all ("Summary")."""
    for at_s, line in lines:
        match = _STATISTICS.match(line)
        if match and match[1] == what:
            pairs = (pair.partition(": ") for pair in match[3].strip().split(", "))
            yield at_s, match[2], {name: float(value) for name, _, value in pairs}


def _kinds(lines: Sequence[tuple[float, str]]) -> dict[str, Kind]:
    counted = {name.lower(): values for _, name, values in _statistics(lines, "Summary")}
    kinds = {}
    for name in TRANSACTIONS:
        good, bad = (counted.get(key, {}) for key in (name, f"{name}{_FAILED.lower()}"))
        kinds[name] = Kind(
            int(good.get("Count", 0)),
            int(bad.get("Count", 0)),
            good.get("Avg(ms)"),
            good.get("95th(ms)"),
        )
    return kinds


def _intervals(lines: Sequence[tuple[float, str]]) -> list[Interval]:
    """Group lines that were printed at once; go-tpc prints nothing for an idle interval."""
    intervals: list[Interval] = []
    names: set[str] = set()
    for at_s, name, values in _statistics(lines, "Current"):
        if not intervals or name in names or at_s - intervals[-1].ended_s > EARLY_S:
            intervals.append(Interval(at_s, 0, 0))
            names.clear()
        names.add(name)
        last, number = intervals[-1], int(values["Count"])
        good, bad = (0, number) if name.endswith(_FAILED) else (number, 0)
        intervals[-1] = Interval(last.ended_s, last.committed + good, last.failed + bad)
    return intervals


def _errors(text: str) -> tuple[dict[tuple[int, str], int], list[str]]:
    """Count failed transactions by error and statement; return those that nothing explains."""
    known, unknown = [], []
    for message in _ERROR.findall(text):
        number = _NUMBER.search(message)
        if number and int(number[1]) in ABORTS:
            known.append((int(number[1]), _statement(message)))
        else:
            unknown.append(message)
    return dict(Counter(known)), unknown


def _statement(message: str) -> str:
    """Name a statement by its verb, its first table and whether it locks what it reads."""
    match = _STATEMENT.search(message)
    if match is None:
        return "COMMIT" if not message.startswith("exec") else "other"
    verb = next(filter(None, match.groups()[:3])).upper()
    locking = " FOR UPDATE" if re.search(r"\bFOR UPDATE\b", message, re.IGNORECASE) else ""
    return f"{verb} {match[4]}{locking}"
