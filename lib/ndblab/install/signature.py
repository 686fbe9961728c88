"""Signature of a file, checked against a vendor's public keys by gpgv or gpg.

In: a file, its detached signature, the keys. Out: the fingerprint of the key that signed it, or an
error. No keyring of the user is read or changed.
"""

from __future__ import annotations

import base64
import re
import tempfile
from pathlib import Path

from ndblab.error import LabError
from ndblab.install import requirements
from ndblab.machine import commands

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
# An old release is signed by a key that has expired since; the signature is no worse for that.
_GOOD = {"GOODSIG", "EXPKEYSIG"}


def verify(file: Path, signature: bytes, keys: str, name: str) -> str:
    """Check a file and return the fingerprint of the key that signed it.

    Parameters
    ----------
    signature : the detached signature, as the vendor publishes it.
    keys : public keys in ASCII armour; text around them is ignored.
    name : the file's own name, for messages.

    Raises
    ------
    LabError : none of the keys signed it, it was changed since, or there is no gpgv.
    """
    program = requirements.signature_checker()
    if program is None:
        requirements.require(f"Checking the signature of {name}", ["gpgv"])
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

    Raises
    ------
    LabError : the signature is not good.
    """
    statuses = dict(_STATUS.findall(text))
    valid = statuses.get("VALIDSIG", "").split()
    if valid and _GOOD & statuses.keys():
        # The last word is the primary key, also if a subkey of it signed.
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
