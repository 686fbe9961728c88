"""A dataset: the folder of raw tables, manifest, configs and logs that one sweep produced.

These modules are the only readers and writers of such folders. They change a complete dataset only
to go on with it, and never join two.
"""

from __future__ import annotations

from ndblab.dataset.manifest import complete, identity_hash
from ndblab.dataset.reader import Dataset, read
from ndblab.dataset.schema import OK, SCHEMAS, VERSION
from ndblab.dataset.writer import Writer

__all__ = [
    "OK",
    "SCHEMAS",
    "VERSION",
    "Dataset",
    "Writer",
    "complete",
    "identity_hash",
    "read",
]
