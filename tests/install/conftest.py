"""A server that downloads come from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import vendor


@pytest.fixture
def server() -> Iterator[vendor.Server]:
    """A server on this machine, without a file yet."""
    with vendor.serving() as serving:
        yield serving
