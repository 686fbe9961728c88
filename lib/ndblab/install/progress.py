"""What an installation shows while it works, and how long each part took.

In: phases with their progress. Out: bars or sparse lines on the error stream, and `seconds`.
It never decides anything.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Phases:
    """A clock and a display for the parts of one installation."""

    def __init__(self, show: bool = True) -> None:
        self.seconds: dict[str, float] = {}
        self.show = show

    def say(self, text: str) -> None:
        """Tell the user something that matters whatever is shown."""
        from tqdm import tqdm

        tqdm.write(f"install: {text}", file=sys.stderr)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time a part that has no measure of its progress; it is told when it was done."""
        begin = time.monotonic()
        yield
        self.seconds[name] = time.monotonic() - begin
        if self.show and self.seconds[name] >= 0.1:
            self.say(f"{name}: {self.seconds[name]:.1f} s")

    @contextmanager
    def bar(self, name: str, total: float, unit: str) -> Iterator[Callable[[float, float], None]]:
        """Time a part and show how far it is; gives `reach(done, total)`."""
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
