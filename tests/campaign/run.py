"""The campaign: random faults, injected into the lab and its cluster, one after the other.

In: a seed and a number of faults. Out: a line of JSON for each fault, and a table of what held.
A campaign that was interrupted goes on after its last line; each fault can be repeated by its
number. It never touches the user's own cluster or datasets.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import queue
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path

from ndblab import install
from ndblab.campaign import assessment
from ndblab.campaign import lane as lanes
from ndblab.campaign.assessment import CHECKS, Judgement
from ndblab.campaign.trial import KINDS, Trial, draw, numbers
from ndblab.error import LabError
from ndblab.experiments import measurement

OUT = measurement.ROOT / "out/faults"
COUNT, SEED = 200, 1
CRASHED = "the campaign itself"
"""Name of the check that fails where a trial could not be judged: that is never a pass."""


class Log:
    """The lines of a campaign, one for each fault, by number; the last one of a number counts."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.lines: dict[int, dict] = {}
        text = file.read_text() if file.exists() else ""
        for line in text.splitlines():
            # The last line may be half-written by a campaign that was killed.
            with contextlib.suppress(ValueError, KeyError, TypeError):
                told = json.loads(line)
                self.lines[told["number"]] = told
        self._torn = bool(text) and not text.endswith("\n")

    def append(self, line: Mapping[str, object]) -> None:
        """Write a line, all of it or nothing that is ever read."""
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
    """Inject faults and print what held.

    Parameters
    ----------
    first : number of the first fault; those that were made before are then made again.
    kind : make faults of this kind only, the next `count` of them.
    at_once : faults at a time, each in folders and on ports of its own.

    Raises
    ------
    LabError
        If a check of any fault failed, or the campaign cannot be made here.
    """
    seed = _number("seed", seed, 0)
    start = _number("first", 1 if first is None else first)
    chosen = numbers(seed, start, _number("count", count), kind)
    log = Log(out / f"{seed}.jsonl")
    todo = [n for n in chosen if first is not None or n not in log.lines]
    if todo:
        install.ensure()
        trials = [draw(seed, number) for number in todo]
        _perform(trials, len(chosen), log, _number("at-once", at_once), out / str(seed))
    lines = [log.lines[number] for number in chosen]
    print(table(lines))
    for line in lines:
        for check, found in failures(line).items():
            print(f"{line['number']}: {line['words']}\n    {check}: {found}")
    for reason in sorted({line["skipped"] for line in lines} - {""}):
        print(f"passed over: {reason}")
    if failed := [line for line in lines if failures(line)]:
        repeat = f"--seed {seed} --first {failed[0]['number']} --count 1"
        raise LabError(
            f"The lab did not withstand {len(failed)} of {len(lines)} faults",
            found=", ".join(f"{line['number']} ({line['kind']})" for line in failed[:10]),
            expected="every check passed, after every fault",
            next_step=f"`./lab bench faults {repeat}` repeats one; its traces are in "
            f"{out / str(seed)}.",
        )


def _number(option: str, value: int | str, least: int = 1) -> int:
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if number < least:
        raise LabError(
            f"--{option} is not usable",
            found=repr(value),
            expected=f"a whole number of at least {least}",
            next_step=f"Give --{option} such a number, or leave it out.",
        )
    return number


def failures(line: Mapping) -> dict[str, str]:
    """Give the checks of a line that found something, with what they found."""
    return {check: found for check, found in line["checks"].items() if found}


def table(lines: Iterable[Mapping]) -> str:
    """Lay out kinds against checks: how many faults passed, and how many failed."""
    lines = list(lines)
    crashed = [CRASHED] if any(CRASHED in line["checks"] for line in lines) else []
    checks = [*CHECKS, *crashed]
    rows = [["kind", "faults", "struck", *checks]]
    for kind in [*KINDS, "all"]:
        own = [line for line in lines if kind in (line["kind"], "all") and not line["skipped"]]
        found = [[line["checks"][c] for line in own if c in line["checks"]] for c in checks]
        cells = [_cell(each) for each in found]
        rows.append([kind, str(len(own)), str(sum(line["struck"] for line in own)), *cells])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _cell(found: list[str]) -> str:
    failed = sum(map(bool, found))
    if not found:
        return "-"
    return f"{len(found) - failed}, {failed} failed" if failed else str(len(found))


def _perform(trials: list[Trial], total: int, log: Log, at_once: int, out: Path) -> None:
    """Make trials, several at a time, and write each line as soon as it is there."""
    from tqdm import tqdm

    with contextlib.ExitStack() as stack:
        free: queue.SimpleQueue[lanes.Lane] = queue.SimpleQueue()
        opened = [stack.enter_context(lanes.opened(number)) for number in range(at_once)]
        pool = stack.enter_context(ThreadPoolExecutor(at_once))
        waiting: set[Future[dict]] = set()
        failed = sum(bool(failures(line)) for line in log.lines.values())
        try:
            for lane in pool.map(lanes.Lane.warmed_up, opened):
                free.put(lane)
            bar = stack.enter_context(
                tqdm(
                    total=total, initial=total - len(trials), desc="faults", unit="fault",
                    file=sys.stderr,
                )
            )  # fmt: skip
            waiting |= {pool.submit(_made, t, free, out / str(t.number)) for t in trials}
            for ended in as_completed(waiting):
                line = ended.result()
                log.append(line)
                failed += bool(failures(line))
                bar.set_postfix_str(f"{failed} failed", refresh=False)
                bar.update()
                for check, found in failures(line).items():
                    bar.write(f"{line['number']}: {line['words']}: {check}: {found}", sys.stderr)
        except BaseException:
            for each in waiting:
                each.cancel()
            for lane in opened:
                lane.abandon()
            raise


def _made(trial: Trial, free: queue.SimpleQueue[lanes.Lane], evidence: Path) -> dict:
    """Make one trial in a lane that is free, and give its line."""
    lane = free.get()
    try:
        return made(trial, lambda: assessment.judge(trial, lane, evidence))
    finally:
        free.put(lane)


def made(trial: Trial, judged: Callable[[], Judgement]) -> dict:
    """Give the line of a trial; what cannot be judged has failed."""
    began, started = time.monotonic(), datetime.now(UTC)
    try:
        judgement = judged()
    except lanes.Abandoned:
        raise
    except Exception:
        judgement = Judgement({CRASHED: traceback.format_exc()})
    return {
        "number": trial.number,
        "kind": trial.kind,
        "words": trial.words(),
        "drawn": trial.to_dict(),
        **dataclasses.asdict(judgement),
        "started_utc": started.isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - began, 1),
    }
