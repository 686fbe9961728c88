"""Progress of an installation: what it shows, and how long each phase took.

In: phases with their progress. Out: bars or a few lines on the error stream, and `seconds`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Phases:
    """Times and displays the phases of one installation."""

    def __init__(self, show: bool = True) -> None:
        self.seconds: dict[str, float] = {}
        self.show = show

    def say(self, text: str) -> None:
        """Print a message, also if progress is not shown."""
        from tqdm import tqdm

        tqdm.write(f"install: {text}", file=sys.stderr)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time a phase without a progress bar; print its duration at the end."""
        begin = time.monotonic()
        yield
        self.seconds[name] = time.monotonic() - begin
        if self.show and self.seconds[name] >= 0.1:
            self.say(f"{name}: {self.seconds[name]:.1f} s")

    @contextmanager
    def bar(self, name: str, total: float, unit: str) -> Iterator[Callable[[float, float], None]]:
        """Time a phase and show its progress; yields `reach(done, total)`."""
        from tqdm import tqdm

        begin = time.monotonic()
        shown = tqdm(
            desc=f"install: {name}",
            total=total,
            unit=unit,
            disable=not self.show,
            mininterval=0.2 if sys.stderr.isatty() else 15,
            dynamic_ncols=True,
            file=sys.stderr,
            bar_format="{desc} {percentage:3.0f}% |{bar}| {n:.0f}/{total:.0f} {unit} "
            "[{elapsed}, {remaining} left]",
        )

        def reach(done: float, out_of: float) -> None:
            shown.total = out_of
            shown.update(done - shown.n)

        with shown:
            yield reach
        self.seconds[name] = time.monotonic() - begin
