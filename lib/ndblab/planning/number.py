"""Numbers given by a user: one check and one wording for every option.

In: an option as the user types it ("--servers"), its value as text or as a number, and its range.
Out: the number, or a LabError that says what is expected.
"""

from __future__ import annotations

import math

from ndblab.error import LabError


def whole(
    option: str, value: object, least: int = 1, most: int | None = None, reason: str = ""
) -> int:
    """Return a whole number in its range; `reason` explains the upper limit."""
    try:
        number = int(str(value))
    except ValueError:
        number = least - 1
    if number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise _unusable(option, value, f"a whole number {limits}", reason)
    return number


def several(option: str, value: object, most: int, reason: str = "") -> tuple[int, ...]:
    """Return the whole numbers from 1 of text such as "1,2,4", a list or one number, in order."""
    parts = value.split(",") if isinstance(value, str) else value
    parts = parts if isinstance(parts, list | tuple) else [parts]
    if not parts:
        raise _unusable(option, value, "at least one whole number")
    return tuple(sorted({whole(option, part, 1, most, reason) for part in parts}))


def positive(option: str, value: object, most: float) -> float:
    """Return a number above 0 and up to `most`."""
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not 0 < number <= most:
        raise _unusable(option, value, f"a number above 0 and up to {most:g}")
    return number


def _unusable(option: str, value: object, expected: str, reason: str = "") -> LabError:
    return LabError(
        f"{option} is not usable",
        found="nothing" if value is None else repr(value),
        expected=f"{expected} ({reason})" if reason else expected,
        next_step=f"Give {option} such a value.",
    )
