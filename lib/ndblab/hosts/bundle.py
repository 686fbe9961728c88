"""What the lab sends to another host: its modules about machines, its agent, and psutil.

In: the installed modules. Out: the bytes that `boot` reads there, and the shell command that starts
it. The host needs Python and nothing else.
"""

from __future__ import annotations

import functools
import io
import json
import platform
import shlex
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

from ndblab.hosts import boot

GREETING = "ndblab agent: "
"""What the agent says first; all that comes before it is the host's own, such as a shell's."""
NO_PYTHON = "ndblab: no Python"
OLDEST_PYTHON = (3, 9)
"""Of the distributions in use: Red Hat's and Oracle's release 9. The lab itself needs a newer."""
_NAMES = ("python3", *(f"python3.{minor}" for minor in range(14, OLDEST_PYTHON[1] - 1, -1)))
_LIBRARY = Path(__file__).parents[2]
_OF_HOSTS = ("__init__", "agent", "boot", "trees", "wire")
"""Modules of this package that run on the other host."""


def command() -> str:
    """Return the line for the shell of a host that starts the first good Python there."""
    *flags, start = boot.OPTIONS
    good = f"import sys; sys.exit(sys.version_info < {OLDEST_PYTHON})"
    script = (
        f'for name in {" ".join(_NAMES)}; do "$name" -c "{good}" 2>/dev/null && '
        f'exec "$name" {" ".join(flags)} "{start}"; done; '
        f'echo "{NO_PYTHON}: $(python3 --version 2>&1)"; exit 1'
    )
    return f"exec /bin/sh -c {shlex.quote(script)}"


def order(facts: Mapping[str, object]) -> bytes:
    """Return what the first code on a host reads: itself, the order and the modules.

    Parameters
    ----------
    facts : what the agent is told, besides what the order itself needs; plain data for JSON.
    """
    archive, compiled = _archive(), {name: path.read_bytes() for name, path in _compiled()}
    line = {
        **facts,
        "greeting": GREETING,
        "machine": platform.machine(),
        "archive_bytes": len(archive),
        "compiled_bytes": {name: len(data) for name, data in compiled.items()},
    }
    first = Path(boot.__file__).read_bytes()
    parts = [f"{len(first)}\n".encode(), first, json.dumps(line).encode(), b"\n", archive]
    return b"".join([*parts, *compiled.values()])


@functools.cache
def _archive() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for root, file in _sources():
            archive.writestr(str(file.relative_to(root)), file.read_bytes())
    return held.getvalue()


def _sources() -> Iterator[tuple[Path, Path]]:
    package = _LIBRARY / "ndblab"
    here = (package / "hosts" / f"{name}.py" for name in _OF_HOSTS)
    for file in (
        package / "__init__.py",
        package / "error.py",
        *package.glob("machine/*.py"),
        *here,
    ):
        yield _LIBRARY, file
    folder = Path(psutil.__file__).parent
    for file in folder.glob("*.py"):
        yield folder.parent, file


def _compiled() -> Iterator[tuple[str, Path]]:
    for file in sorted(Path(psutil.__file__).parent.glob("*.so")):
        yield f"psutil.{file.name.partition('.')[0]}", file
