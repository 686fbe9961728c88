"""What clients see when part of the cluster fails: checked writes under injected faults."""

import hashlib

CHECKED_WRITES = "checked_writes"
READ, WRITE = "read", "write"
"""Kinds of operations of checked writes."""
OK, FAILED, UNKNOWN, WRONG = "ok", "failed", "unknown", "wrong"
GIVEN_UP = (FAILED, UNKNOWN)
"""Outcomes of operations: answered correctly; given up and certainly not applied; given up after an
unanswered COMMIT, so possibly applied; a read that missed acknowledged data."""


def written_value(seed: object, client: int, seq: int) -> str:
    """Return the value that a client writes in an operation; no other operation writes it.

    >>> written_value(1, 1, 0) == written_value("1", 1, 0) != written_value("1", 1, 1)
    True
    """
    return hashlib.md5(f"{seed}/{client}/{seq}".encode(), usedforsecurity=False).hexdigest()
