"""The campaign itself: injections executed one after the other, each logged when it is done.

In: a seed and a number of faults. Out: a line of JSON for each fault, and a table of the checks.
An interrupted campaign resumes with the faults that have no line or were skipped; each can be
repeated by its number.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import queue
import shutil
import string
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path

from campaign import execution
from campaign import sandbox as sandboxes
from campaign.execution import CHECKS, Outcome
from campaign.hosts import Hosts
from campaign.injection import KINDS, ON_NETWORK, Injection, draw, numbers, together
from campaign.sandbox import Sandbox
from ndblab import install
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.hosts import connected, namespaces
from ndblab.measuring import measurement
from ndblab.planning import number

OUT = measurement.ROOT / "out/faults"
COUNT, SEED = 200, 1
CRASHED = "the campaign itself"
"""Name of the check that fails if the campaign itself crashes: that is never a pass."""


class Log:
    """The lines of a campaign, one per fault, by number; the last one of a number counts."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.lines: dict[int, dict] = {}
        text = file.read_text() if file.exists() else ""
        for line in text.splitlines():
            # The last line may be half-written by a campaign that was killed.
            with contextlib.suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                if "injected" in entry:  # the log of an older campaign has other faults
                    self.lines[entry["number"]] = entry
        self._torn = bool(text) and not text.endswith("\n")

    def missing(self, numbers: Iterable[int]) -> list[int]:
        """Return those of the numbers that have no line or were skipped: the reason may be gone."""
        return [n for n in numbers if n not in self.lines or self.lines[n]["skipped"]]

    def append(self, line: Mapping[str, object]) -> None:
        """Append a line; half a line is never read back."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as out:
            out.write("\n" * self._torn + json.dumps(line) + "\n")
            out.flush()
            os.fsync(out.fileno())
        self._torn = False
        self.lines[int(str(line["number"]))] = dict(line)


def campaign(
    count: int | str = COUNT,
    seed: int | str = SEED,
    first: int | str | None = None,
    kind: str | None = None,
    at_once: int | str = 1,
    out: Path = OUT,
) -> None:
    """Inject faults and print how many checks passed.

    LabError if a check failed after any fault, or no campaign can be run here.

    Parameters
    ----------
    first : number of the first fault; with it, faults that were injected before are repeated.
    kind : inject only faults of this kind, the next `count` of them.
    at_once : number of faults at a time, each in a sandbox of its own.
    """
    seed = number.whole("--seed", seed, 0)
    start = number.whole("--first", 1 if first is None else first)
    chosen = numbers(seed, start, number.whole("--count", count), kind)
    log = Log(out / f"{seed}.jsonl")
    todo = chosen if first is not None else log.missing(chosen)
    if todo:
        install.ensure()
        drawn = [draw(seed, fault) for fault in todo]
        _execute(drawn, len(chosen), log, number.whole("--at-once", at_once), out / str(seed))
    lines = [log.lines[number] for number in chosen]
    print(table(lines))
    for line in lines:
        for check, wrong in failures(line).items():
            print(f"{line['number']}: {line['words']}\n    {check}: {wrong}")
    for reason in sorted({line["skipped"] for line in lines} - {""}):
        print(f"skipped: {reason}")
    if failed := [line for line in lines if failures(line)]:
        repeat = f"--seed {seed} --first {failed[0]['number']} --count 1"
        raise LabError(
            f"The lab did not withstand {len(failed)} of {len(lines)} faults",
            found=", ".join(f"{line['number']} ({line['kind']})" for line in failed[:10]),
            expected="every check passed, after every fault",
            next_step=f"`./lab faults {repeat}` repeats one; the evidence is in {out / str(seed)}.",
        )


def failures(line: Mapping) -> dict[str, str]:
    """Return the checks of a line that found something, with what they found."""
    return {check: wrong for check, wrong in line["checks"].items() if wrong}


def table(lines: Iterable[Mapping]) -> str:
    """Lay out kinds against checks: how many faults passed, and how many failed."""
    lines = list(lines)
    crashed = [CRASHED] if any(CRASHED in line["checks"] for line in lines) else []
    checks = [*CHECKS, *crashed]
    rows = [["kind", "faults", "injected", "mean s", *checks]]
    for kind in [*KINDS, "all"]:
        own = [line for line in lines if kind in (line["kind"], "all") and not line["skipped"]]
        cells = [_cell([line["checks"][c] for line in own if c in line["checks"]]) for c in checks]
        mean_s = sum(line["seconds"] for line in own) / len(own) if own else 0.0
        injected = str(sum(line["injected"] for line in own))
        rows.append([kind, str(len(own)), injected, f"{mean_s:.1f}", *cells])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _cell(results: list[str]) -> str:
    failed = sum(map(bool, results))
    if not results:
        return "-"
    return f"{len(results) - failed}, {failed} failed" if failed else str(len(results))


def _execute(drawn: list[Injection], total: int, log: Log, at_once: int, out: Path) -> None:
    """Execute injections, several at a time, and log each as soon as it is done."""
    from tqdm import tqdm

    with contextlib.ExitStack() as stack:
        free: queue.SimpleQueue[Sandbox] = queue.SimpleQueue()
        opened = [stack.enter_context(sandboxes.opened(number)) for number in range(at_once)]
        if any(injection.kind in ON_NETWORK for injection in drawn):
            _give_hosts(opened, stack)
        pool = stack.enter_context(ThreadPoolExecutor(at_once))
        pending: set[Future[dict]] = set()
        failed = sum(bool(failures(line)) for line in log.lines.values())
        try:
            list(pool.map(Sandbox.warm_up, opened))
            for sandbox in opened:
                free.put(sandbox)
            bar = stack.enter_context(
                tqdm(
                    total=total, initial=total - len(drawn), desc="faults", unit="fault",
                    file=sys.stderr,
                )
            )  # fmt: skip
            pending |= {
                pool.submit(_in_free_sandbox, group, free, out / str(group[0].number))
                for group in together(drawn)
            }
            for line in (line for done in as_completed(pending) for line in done.result()):
                log.append(line)
                failed += bool(failures(line))
                bar.set_postfix_str(f"{failed} failed", refresh=False)
                bar.update()
                for check, wrong in failures(line).items():
                    bar.write(f"{line['number']}: {line['words']}: {check}: {wrong}", sys.stderr)
        except BaseException:
            for future in pending:
                future.cancel()
            for sandbox in opened:
                sandbox.abandon()
            raise


def _give_hosts(opened: list[Sandbox], stack: contextlib.ExitStack) -> None:
    """Give each sandbox hosts of its own in one network; or the reason why it has none."""
    if why := connected.lacks():
        print(f"lab: no faults of a network are injected: {why}", file=sys.stderr)
        for sandbox in opened:
            sandbox.no_hosts = why
        return
    folder = opened[0].home / "hosts"
    shutil.rmtree(folder, ignore_errors=True)
    size = len(catalogue.find("network-faults").hosts)
    letters = string.ascii_letters[: size * len(opened)]
    network = stack.enter_context(namespaces.network(letters, folder))
    for place, sandbox in enumerate(opened):
        sandbox.hosts = Hosts(network, letters[size * place : size * (place + 1)])


def _in_free_sandbox(
    group: Sequence[Injection], free: queue.SimpleQueue[Sandbox], evidence: Path
) -> list[dict[str, object]]:
    sandbox = free.get()
    try:
        placed = [i.placed(sandbox.calls[i.budget], sandbox.duration_s) for i in group]
        if group[0].in_turn:
            return lines_of(placed, lambda: execution.execute_in_turn(placed, sandbox, evidence))
        if group[0].shares or group[0].loses_lab:
            return lines_of(placed, lambda: execution.execute_together(placed, sandbox, evidence))
        [alone] = placed
        return [line_of(alone, lambda: execution.execute(alone, sandbox, evidence))]
    finally:
        free.put(sandbox)


def line_of(injection: Injection, execute: Callable[[], Outcome]) -> dict[str, object]:
    """Execute an injection and return its line of the log; a crash is a failed check."""
    return lines_of([injection], lambda: [execute()])[0]


def lines_of(
    group: Sequence[Injection], execute: Callable[[], list[Outcome]]
) -> list[dict[str, object]]:
    """Execute injections together and return their lines; each has its share of the seconds."""
    began, started = time.monotonic(), datetime.now(UTC)
    try:
        outcomes = execute()
    except sandboxes.Abandoned:
        raise
    except Exception:
        outcomes = [Outcome({CRASHED: traceback.format_exc()}) for _ in group]
    return [
        {
            "number": injection.number,
            "kind": injection.kind,
            "words": injection.words(),
            "drawn": injection.to_dict(),
            **dataclasses.asdict(outcome),
            "started_utc": started.isoformat(timespec="seconds"),
            "seconds": round((time.monotonic() - began) / len(group), 1),
            "together": len(group),
        }
        for injection, outcome in zip(group, outcomes, strict=True)
    ]
