"""The one error of the lab that users are meant to read.

It is shown without a traceback, which is for bugs in the lab itself.
"""

from __future__ import annotations

import contextlib
import errno
import functools
from collections.abc import Callable, Iterator
from pathlib import Path


class LabError(Exception):
    """Something that the user can fix, explained in one message.

    Parameters
    ----------
    what : one sentence, without a full stop, that names the thing and what is wrong with it.
    found, expected : the actual and the expected state.
    next_step : what to type or change, as a full sentence.
    """

    def __init__(
        self,
        what: str,
        *,
        found: object = None,
        expected: object = None,
        next_step: str | None = None,
    ) -> None:
        self.what = what
        self.found = found
        self.expected = expected
        self.next_step = next_step
        super().__init__(what)

    def __reduce__(self) -> tuple:
        """Pickle the error with all its parts."""
        parts = {"found": self.found, "expected": self.expected, "next_step": self.next_step}
        return functools.partial(type(self), self.what, **parts), ()

    def __str__(self) -> str:
        lines = [f"{self.what}."]
        if self.found is not None:
            lines.append(f"  found:    {self.found}")
        if self.expected is not None:
            lines.append(f"  expected: {self.expected}")
        if self.next_step is not None:
            lines.append(f"  next:     {self.next_step}")
        return "\n".join(lines)


@contextlib.contextmanager
def naming(whose: str | Callable[[LabError], str]) -> Iterator[None]:
    """Say in errors of a `with` block what they are about; nothing if that is empty.

    `whose` is what stands before the message, or what says so of an error.
    """
    try:
        yield
    except LabError as failure:
        about = whose(failure) if callable(whose) else whose
        if not about:
            raise
        raise LabError(
            f"{about}: {failure.what}",
            found=failure.found,
            expected=failure.expected,
            next_step=failure.next_step,
        ) from failure


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a full disk or missing permission into a LabError."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise LabError(
                f"The disk is full; {path} could not be written",
                found=error.strerror,
                expected="free space",
                next_step="Free some space and run the same command again; completed runs are "
                "saved.",
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise LabError(
                f"{path} cannot be written",
                found=error.strerror,
                expected="a writable folder",
                next_step="Change its owner, or choose another folder.",
            ) from error
        raise


class MissingData(Exception):
    """The dataset lacks data that an analysis needs; the message says which."""
