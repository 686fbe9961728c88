"""Progress of an installation: one bar with one estimate of the time left over all its phases."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from ndblab.formatting import duration

_INTERVAL_S = (0.5, 15)
"""How often the bar is drawn on a terminal, and in a log."""
_BAR = "install: {percentage:3.0f}% |{bar}| {elapsed}{postfix}"


class Phases:
    """Times the phases of one installation and displays them as one bar.

    `seconds` holds what each phase took.
    """

    def __init__(self, show: bool = True) -> None:
        self.seconds: dict[str, float] = {}
        self.show = show
        self._expected_s: dict[str, float] = {}
        self._begun_s: dict[str, float] = {}
        self._done: dict[str, float] = {}

    def say(self, text: str) -> None:
        """Print a message, even if progress is not shown."""
        from tqdm import tqdm

        tqdm.write(f"install: {text}", file=sys.stderr)

    @contextmanager
    def expecting(self, phases_s: Mapping[str, float]) -> Iterator[None]:
        """Show one bar for phases that follow each other, by what each of them usually takes.

        Phases that run beside others are not listed.
        """
        from tqdm import tqdm

        self._expected_s, self._begun_s, self._done = dict(phases_s), {}, {}
        self.seconds = {}
        interval_s, ended = _INTERVAL_S[not sys.stderr.isatty()], threading.Event()
        with ExitStack() as stack:
            bar = stack.enter_context(
                tqdm(total=1, disable=not self.show, file=sys.stderr, dynamic_ncols=True,
                     miniters=0, mininterval=0, bar_format=_BAR)
            )  # fmt: skip
            begin = time.monotonic()

            def draw() -> None:
                while not ended.wait(interval_s):
                    left_s = self.left_s(time.monotonic())
                    spent_s = time.monotonic() - begin
                    # A phase that takes longer than usual halts the bar; it never goes back.
                    bar.n = max(bar.n, spent_s / (spent_s + left_s + 0.1))
                    running = [name for name in self._begun_s if name not in self.seconds]
                    bar.postfix = ", ".join([f"about {duration(left_s)} left", *running[-1:]])
                    bar.refresh()

            drawing = threading.Thread(target=draw, daemon=True)
            if self.show:
                drawing.start()
                stack.callback(drawing.join)
            stack.callback(self._expected_s.clear)
            stack.callback(ended.set)
            yield
            bar.n, bar.postfix = 1, "done"

    @contextmanager
    def timed(self, name: str) -> Iterator[Callable[[float, float], None]]:
        """Time a phase; yield `reach(done, total)`, by which the phase can report its progress.

        A phase that no bar expects prints its duration at the end.
        """
        self._begun_s[name] = begin = time.monotonic()

        def reach(done: float, total: float) -> None:
            self._done[name] = done / total if total else 0

        yield reach
        self.seconds[name] = time.monotonic() - begin
        if self.show and not self._expected_s and self.seconds[name] >= 0.1:
            self.say(f"{name}: {self.seconds[name]:.1f} s")

    def left_s(self, now_s: float) -> float:
        """Estimate the time left, in seconds.

        At its beginning, a phase counts with its usual time; the further it is, the more its own
        pace counts.
        """
        left_s = 0.0
        for name, usual_s in self._expected_s.items():
            spent_s, done = now_s - self._begun_s.get(name, now_s), self._done.get(name, 0)
            if name in self.seconds:
                continue
            if done:
                left_s += (1 - done) * ((1 - done) * usual_s + spent_s)
            else:
                left_s += max(0, usual_s - spent_s)
        return left_s
