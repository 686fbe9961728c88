"""A lab that is to be struck: one tiny measurement, and the blow at a step of it.

In: an `Order` as JSON, the only argument. Out: lines of JSON: that the blow fell, and how the lab
ended, as `./lab` would tell it. Of the lab's code only this process's copy is changed.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
import threading
import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from ndblab.campaign import disk, steps

MEASURED, TOLD, INTERRUPTED, CRASHED = 0, 1, 130, 3
"""How a victim exits: well; with the one message of a LabError; as `./lab` after Ctrl-C; with a
traceback, which no user should ever see."""
FULL = "full"
TABLE_SIZE, CLIENTS = 1000, 2
SERVERS, CHECKED_CLIENTS = 2, 8


@dataclass(frozen=True)
class Order:
    """What a victim does, and what is done to it.

    `blow` is a signal, or "full" for the disk mounted at `disk`, at the `call`-th call of `step`,
    before or `after` it. `actions` are those of a fault under checked writes. With `count` it tells
    in the end how often each step was called.
    """

    runs: str
    port: int
    budget: str = "shared"
    repeats: int = 1
    duration_s: int = 1
    blow: str = ""
    step: str = ""
    call: int = 0
    after: bool = False
    watcher: bool = False
    disk: str = ""
    checked: bool = False
    actions: tuple[tuple[float, str, str, int], ...] = ()
    count: bool = False

    def to_json(self) -> str:
        """Give the order as the argument of a victim."""
        return json.dumps(asdict(self))


def main(order: Order) -> int:
    """Do what is ordered and give the exit status."""
    # A shell that starts the campaign in the background has its children ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    calls = steps.count_calls() if order.count else None
    if order.step:
        steps.strike_at(order.step, order.call, order.after, lambda: strike(order))
    status, text = _guarded(order)
    _tell(ended=status, text=text, **({"calls": calls} if calls else {}))
    return status


def end_with_campaign() -> None:
    """End as soon as standard input does: whoever holds its other end is gone."""

    def watch() -> None:
        os.read(sys.stdin.fileno(), 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def strike(order: Order) -> None:
    """Let the blow fall on this process, or on its disk."""
    if order.watcher:
        end_watchers(os.getpid())
    _tell(struck=order.step, at_s=round(time.time(), 3))
    if order.blow == FULL:
        disk.fill(Path(order.disk))
    else:
        os.kill(os.getpid(), signal.Signals[order.blow])


def end_watchers(pid: int) -> None:
    """Kill the watchers of a lab, as whoever kills everything of a user does."""
    for child in psutil.Process(pid).children():
        if "ndblab.cluster.watchdog" in child.cmdline():
            child.kill()


def measure(order: Order) -> None:
    """Measure a little, as `./lab reproduce` does."""
    from ndblab.experiments import catalogue, measurement

    measurement.RUNS = Path(order.runs)
    size = {**_size(order), "servers": (1,), "clients": (CLIENTS,)}
    measurement.measure(
        catalogue.find(figure=6), "smoke", order.budget, size, order.port, progress=False
    )


def measure_checked(order: Order) -> None:
    """Have clients write under the ordered fault, and tell whether it happened."""
    from ndblab.experiments import catalogue, measurement, sweep
    from ndblab.planning import fault

    actions = tuple(fault.Action(*action) for action in order.actions)
    drawn = fault.Fault(
        "drawn", "Is an acknowledged write lost?", actions, lasts_s=order.duration_s
    )
    point = sweep.Point(
        SERVERS, CHECKED_CLIENTS, workload=catalogue.grids.CHECKED_WRITES, variant="drawn"
    )
    experiment = dataclasses.replace(
        catalogue.find("availability"),
        variants=(catalogue.Variant(), catalogue.Variant("drawn", fault=drawn)),
        grid=lambda size: (point,),
    )
    size = {**_size(order), "servers": (SERVERS,), "clients": (CHECKED_CLIENTS,)}
    measurement.RUNS = Path(order.runs)
    data = measurement.measure(experiment, "smoke", order.budget, size, order.port, progress=False)
    for text in data.events.loc[data.events["event"].astype(str) == "fault", "text"].head(1):
        _tell(struck=str(text))


def _size(order: Order) -> dict[str, object]:
    return {
        "repeats": order.repeats,
        "warmup_s": 0,
        "duration_s": order.duration_s,
        "tables": 1,
        "table_size": TABLE_SIZE,
    }


def _guarded(order: Order) -> tuple[int, str]:
    """Measure, and turn what it raises into what a user would see."""
    from ndblab.error import LabError

    try:
        if order.checked:
            measure_checked(order)
        else:
            measure(order)
    except LabError as error:
        return TOLD, str(error)
    except OSError as error:
        if error.filename is None:
            return CRASHED, traceback.format_exc()
        return TOLD, f"{error.filename}: {error.strerror}."
    except KeyboardInterrupt:
        return INTERRUPTED, "interrupted"
    except BaseException:
        return CRASHED, traceback.format_exc()
    return MEASURED, ""


def _tell(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    end_with_campaign()
    sys.exit(main(Order(**json.loads(sys.argv[1]))))
