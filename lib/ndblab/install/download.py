"""One file fetched by its address, taken up again where an earlier attempt stopped.

In: an address, a checksum, a place. Out: the verified file. What was fetched before a failure
stays beside it as `.part`; nothing unverified ever gets the final name.
"""

from __future__ import annotations

import hashlib
import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ndblab.error import LabError
from ndblab.install import cache
from ndblab.install.progress import Phases

_CHUNK_BYTES = 1 << 18
_SILENCE_S = 60


def fetch(url: str, target: Path, sha256: str, phases: Phases, *, times: int = 1) -> None:
    """Fetch `url` to `target`, unless it is there.

    Parameters
    ----------
    times : how many times its own size the file needs on disk, with what is made of it.

    Raises
    ------
    LabError : it cannot be reached, does not fit on the disk, or has another checksum.
    """
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    before = _size(part)
    with phases.bar("download", 1, "MB") as reach:
        while (trouble := _continue(url, part, times, reach)) is not None:
            # A connection that was cut is worth another one only if it brought something new.
            if _size(part) <= before:
                raise _unreachable(url, trouble, part)
            before = _size(part)
    with phases.timed("checksum"):
        _verify(part, sha256, url)
    part.rename(target)


def _continue(
    url: str, part: Path, times: int, reach: Callable[[float, float], None]
) -> str | None:
    """Fetch what is still lacking; say what stopped it, or None when all is here."""
    here = _size(part)
    headers = {"Range": f"bytes={here}-"} if here else {}
    try:
        response = urllib.request.urlopen(
            urllib.request.Request(url, headers=headers), timeout=_SILENCE_S
        )
    except urllib.error.HTTPError as error:
        with error:
            # Nothing is left to fetch from there on; the checksum tells if what is here is right.
            return None if here and error.code == 416 else str(error)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return str(getattr(error, "reason", error))
    with response:
        begin, total = _span(response)
        if total is not None:
            cache.need_space(part.parent, times * total - begin, f"{total / 1e6:.0f} MB of {url}")
        # Only reading is the network's: what goes wrong in writing is not the address's fault.
        done = begin
        with part.open("ab") as stream:
            if begin < here:
                stream.truncate(begin)
            while total is None or done < total:
                try:
                    data = response.read1(_CHUNK_BYTES)
                except (OSError, http.client.HTTPException) as error:
                    return str(error) or type(error).__name__
                if not data:
                    break
                stream.write(data)
                done += len(data)
                reach(done / 1e6, max(done, total or 0) / 1e6)
    if total is not None and done < total:
        return f"the connection ended after {done} of {total} bytes"
    return None


def _span(response: Any) -> tuple[int, int | None]:
    """Read where the answer begins in the file, and the size of the whole file if it is said."""
    given = re.match(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range") or "")
    if response.status == 206 and given:
        return int(given[1]), None if given[2] == "*" else int(given[2])
    length = response.headers.get("Content-Length")
    return 0, int(length) if length else None


def _verify(part: Path, sha256: str, url: str) -> None:
    with part.open("rb") as stream:
        actual = hashlib.file_digest(stream, "sha256").hexdigest()
    if actual != sha256:
        part.unlink()
        raise LabError(
            f"{url} is not the file that its checksum names",
            found=actual,
            expected=sha256,
            next_step="Compare address and --sha256 with where the file is published.",
        )


def _unreachable(url: str, trouble: str, part: Path) -> LabError:
    kept = f"{_size(part) / 1e6:.1f} MB are here and kept. " if _size(part) else ""
    return LabError(
        f"{url} cannot be fetched",
        found=trouble[:300],
        next_step=f"{kept}Check the address and the network, then type the same again; "
        "or fetch the file by hand and give its path.",
    )


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0
