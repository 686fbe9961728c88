"""Download of one file, resumed where an earlier attempt stopped, and its check.

What was fetched before a failure stays beside it in a `.part` file. Only a file with the right
checksum, or signed by one of a vendor's keys, gets the final name. The user's keyrings are left
alone.
"""

from __future__ import annotations

import base64
import http.client
import re
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ndblab.error import LabError
from ndblab.install import binaries, cache, requirements
from ndblab.install.progress import Phases
from ndblab.machine import commands

_CHUNK_BYTES = 1 << 18
_SILENCE_S = 60
# Some servers refuse the name that urllib gives itself.
_HEADERS = {"User-Agent": "ndblab"}
ARMOURED = re.compile(
    rb"-----BEGIN PGP SIGNATURE-----\n.*?\n-----END PGP SIGNATURE-----\n?", re.DOTALL
)
"""A detached signature, also within a page."""
_KEY = re.compile(
    r"^-----BEGIN PGP PUBLIC KEY BLOCK-----\n(?:\S+: .*\n)*\n"
    r"([A-Za-z0-9+/=\n]+?)\n(?:=\S{4}\n)?-----END",
    re.MULTILINE,
)
_STATUS = re.compile(r"^\[GNUPG:\] (\w+) ?(.*)$", re.MULTILINE)
# An old release is signed by a key that has since expired; its signature is still good.
_GOOD = {"GOODSIG", "EXPKEYSIG"}


class Unreachable(LabError):
    """A file cannot be fetched from a URL; another may have it."""


def fetch(
    url: str, target: Path, verify: Callable[[Path], object], phases: Phases, *, times: int = 1
) -> None:
    """Download `url` to `target`, unless it exists.

    `Unreachable` if it cannot be fetched; LabError if it does not fit on the disk, or is not the
    wanted one.

    Parameters
    ----------
    verify : raises LabError if a file is not the wanted one, which is then deleted.
    times : the disk space needed for the file and what is unpacked from it, in file sizes.
    """
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    before = _size(part)
    with phases.timed("download") as reach:
        while (problem := _resume(url, part, times, reach)) is not None:
            # Reconnect only if the last connection made progress.
            if _size(part) <= before:
                raise _unreachable(url, problem, part)
            before = _size(part)
    with phases.timed("check"):
        try:
            verify(part)
        except LabError:
            part.unlink()
            raise
    part.rename(target)


def read(url: str, most_bytes: int = 1 << 20) -> bytes:
    """Return the content of a small file at a URL; Unreachable if it cannot be fetched."""
    try:
        with _open(url) as response:
            return response.read(most_bytes)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _unreachable(url, _reason(error)) from None


def verified_sha256(file: Path, expected: str | None, name: object) -> str:
    """Return a file's checksum; LabError names the file if another checksum is expected."""
    actual = binaries.sha256(file)
    if expected not in (None, actual):
        raise LabError(
            f"{name} does not match its checksum",
            found=actual,
            expected=expected,
            next_step="Compare it and --sha256 with the page that publishes them.",
        )
    return actual


def verify_signature(file: Path, signature: bytes, keys: str, name: str) -> str:
    """Check a file and return the fingerprint of the key that signed it.

    LabError if none of the keys signed it, it was changed since, or there is no gpgv.

    Parameters
    ----------
    signature : the detached signature, as the vendor publishes it.
    keys : public keys in ASCII armour; text around them is ignored.
    name : the file's own name, for messages.
    """
    program = requirements.signature_checker()
    if program is None:
        requirements.require(f"Checking the signature of {name}", [requirements.lack("gpgv")])
    with tempfile.TemporaryDirectory() as folder:
        keyring, detached = Path(folder) / "keys.gpg", Path(folder) / "signature.asc"
        keyring.write_bytes(dearmored(keys))
        detached.write_bytes(signature)
        argv = [program, "--homedir", folder, "--status-fd", "1", "--keyring", str(keyring)]
        if Path(program).name == "gpg":
            argv += ["--batch", "--no-default-keyring", "--no-autostart", "--verify"]
        what = f"The signature of {name} cannot be checked"
        try:
            text = commands.output([*argv, str(detached), str(file)], what=what, timeout_s=None)
        except commands.ChildFailed as failure:
            if not failure.output:
                raise
            text = failure.output
    return signer(text, name)


def signer(text: str, name: str) -> str:
    """Return the fingerprint of the key that signed, from what gpgv or gpg says with --status-fd.

    LabError says why the signature is not good.
    """
    statuses = dict(_STATUS.findall(text))
    valid = statuses.get("VALIDSIG", "").split()
    if valid and _GOOD & statuses.keys():
        # The last word is the primary key, even if a subkey of it signed.
        return valid[-1]
    if key := statuses.get("NO_PUBKEY"):
        raise LabError(
            f"{name} is not signed by its vendor",
            found=f"a signature of the key {key}",
            expected="a signature of one of the vendor's keys that come with the lab",
            next_step="Try again later or from another network; if it stays, report this.",
        )
    if "BADSIG" in statuses:
        raise LabError(
            f"{name} is not the file that its vendor signed",
            found="a signature that does not match the file",
            next_step="Try again: it is downloaded anew. If it stays so, try from another network.",
        )
    raise LabError(
        f"The signature of {name} is not valid",
        found=commands.error_lines(_STATUS.sub("", text), most=3) or "no answer of gpgv",
        next_step="Try again later; if it stays, report this.",
    )


def dearmored(keys: str) -> bytes:
    """Return keys in the binary form that gpgv reads."""
    return b"".join(base64.b64decode(block) for block in _KEY.findall(keys))


def _resume(url: str, part: Path, times: int, reach: Callable[[float, float], None]) -> str | None:
    """Fetch what is still missing; return what stopped it, or None if the file is complete."""
    here = _size(part)
    headers = {"Range": f"bytes={here}-"} if here else {}
    try:
        response = _open(url, headers)
    except urllib.error.HTTPError as error:
        with error:
            # 416: no bytes follow those that are here. The checksum decides whether they are right.
            return None if here and error.code == 416 else str(error)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return _reason(error)
    with response:
        begin, total = _span(response)
        if total is not None:
            cache.need_space(part.parent, times * total - begin, f"{total / 1e6:.0f} MB of {url}")
        # Only reading errors are the network's; writing errors propagate.
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
                reach(done, total or 0)
    if total is not None and done < total:
        return f"the connection ended after {done} of {total} bytes"
    return None


def _reason(error: Exception) -> str:
    answered = isinstance(error, urllib.error.HTTPError)
    return str(error if answered else getattr(error, "reason", error))


def _open(url: str, headers: dict[str, str] | None = None) -> Any:
    request = urllib.request.Request(url, headers=_HEADERS | (headers or {}))
    proxies = urllib.request.getproxies()
    # urllib ignores ALL_PROXY, which pip, uv and curl use, and knows no SOCKS.
    if (proxy := proxies.get("all")) and not proxy.startswith("socks"):
        proxies = {"http": proxy, "https": proxy, **proxies}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
    return opener.open(request, timeout=_SILENCE_S)


def _span(response: Any) -> tuple[int, int | None]:
    """Return the position of the response in the file, and the file's size if it is given."""
    given = re.match(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range") or "")
    if response.status == 206 and given:
        return int(given[1]), None if given[2] == "*" else int(given[2])
    length = response.headers.get("Content-Length")
    return 0, int(length) if length else None


def _unreachable(url: str, problem: str, part: Path | None = None) -> Unreachable:
    here = _size(part) if part else 0
    fetched = f"The first {here / 1e6:.1f} MB are saved. " if here else ""
    return Unreachable(
        f"{url} cannot be fetched",
        found=problem[:300],
        next_step=f"{fetched}Check the URL and the network, then repeat the command; "
        "or download the file by hand and give its path.",
    )


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0
