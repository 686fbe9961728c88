"""Numbers given by a user: one check and one wording for every option."""

from __future__ import annotations

import math

from ndblab.error import LabError


def whole(option: str, value: object, least: int = 1, most: int | None = None) -> int:
    """Return a whole number in its range."""
    number = _integer(value)
    if number is None or number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise _unusable(option, value, f"a whole number {limits}")
    return number


def several(option: str, value: object, most: int, reason: str = "") -> tuple[int, ...]:
    """Return the whole numbers from 1 of text such as "1,2,4", a list or one number, in order."""
    parts = value.split(",") if isinstance(value, str) else value
    parts = parts if isinstance(parts, list | tuple) else [parts]
    numbers = [_integer(part) for part in parts]
    if not numbers or not all(number and 1 <= number <= most for number in numbers):
        expected = f"whole numbers from 1 to {most}, separated by commas"
        next_step = f"Use for example {option} 1,2,4,8."
        raise _unusable(option, value, expected, reason, next_step)
    return tuple(sorted({number for number in numbers if number}))


def positive(option: str, value: object, most: float) -> float:
    """Return a number above 0 and up to `most`."""
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not 0 < number <= most:
        raise _unusable(option, value, f"a number above 0 and up to {most:g}")
    return number


def _integer(value: object) -> int | None:
    try:
        return int(str(value))
    except ValueError:
        return None


def _unusable(
    option: str, value: object, expected: str, reason: str = "", next_step: str | None = None
) -> LabError:
    missing = value is None
    return LabError(
        f"{option} is missing" if missing else f"{option} is not usable",
        found=None if missing else repr(value),
        expected=f"{expected} ({reason})" if reason else expected,
        next_step=next_step,
    )
