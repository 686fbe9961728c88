"""Work done in forked processes, a few at a time, its results in order.

A process does one call and ends, so nothing that a call changes is seen by the next. Fork from a
process without threads, after importing what the calls need.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import connection
from typing import Any

from ndblab.error import LabError

AT_ONCE = 2


def run(work: Callable[..., Any], calls: Sequence[tuple], at_once: int = 1) -> Iterator[Any]:
    """Yield the result of each call, in the order of the calls.

    LabError if a call raised one, or its process died. The other processes are ended.
    """
    fork = multiprocessing.get_context("fork")
    waiting, running, results = list(enumerate(calls)), {}, {}
    try:
        for number in range(len(calls)):
            while number not in results:
                while waiting and len(running) < at_once:
                    which, arguments = waiting.pop(0)
                    here, there = fork.Pipe(duplex=False)
                    process = fork.Process(target=_call, args=(there, work, arguments))
                    process.start()
                    there.close()
                    running[here] = which, process
                for pipe in connection.wait(list(running)):
                    which, process = running[pipe]
                    results[which] = _result(pipe, process)
                    del running[pipe]
            if isinstance(results[number], LabError):
                raise results[number]
            yield results.pop(number)
    finally:
        for _, process in running.values():
            process.terminate()
            process.join()


def _call(pipe: connection.Connection, work: Callable[..., Any], arguments: tuple) -> None:
    # The parent gets the same Ctrl-C, and ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pipe.send(work(*arguments))
    except LabError as error:
        pipe.send(error)


def _result(pipe: connection.Connection, process: multiprocessing.process.BaseProcess) -> Any:
    try:
        return pipe.recv()
    except EOFError:
        process.join()
        return LabError(
            "A process of the lab crashed",
            found=f"exit status {process.exitcode}",
            expected="a result",
            next_step="Look for a traceback above or a lack of memory (dmesg), and try again.",
        )
