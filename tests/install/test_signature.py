"""Signatures: what gpgv says, and the vendor's own keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.install import download, releases

CAPTURED = Path(__file__).parents[1] / "captured/signatures"
# As gpgv 2.2.40 prints them.
VALID = (
    "[GNUPG:] VALIDSIG B299769D03452CAE01CDD87A681C782C5C7031CD 2020-06-01 1590969600 "
    "0 4 0 1 10 00 B299769D03452CAE01CDD87A681C782C5C7031CD\n"
)


def test_a_key_that_has_expired_since_is_good() -> None:
    """The brief's release is older than the key that the vendor has now."""
    text = f"[GNUPG:] EXPKEYSIG 681C782C5C7031CD Old <old@example>\n{VALID}"
    assert download.signer(text, "ndb.tar.gz") == "B299769D03452CAE01CDD87A681C782C5C7031CD"


@pytest.mark.parametrize("status", ["REVKEYSIG 681C782C5C7031CD Old", "EXPSIG 681C782C5C7031CD"])
def test_a_revoked_key_or_an_expired_signature_is_not(status: str) -> None:
    """Though gpgv calls it valid."""
    with pytest.raises(LabError, match="is not valid"):
        download.signer(f"[GNUPG:] {status}\n{VALID}", "ndb.tar.gz")


def test_no_answer_is_no_good_signature() -> None:
    """Nothing counts but what gpgv says."""
    with pytest.raises(LabError, match="is not valid"):
        download.signer("", "ndb.tar.gz")


def test_rubbish_is_no_signature(tmp_path: Path) -> None:
    """gpgv's own words explain it."""
    file = tmp_path / "ndb.tar.gz"
    file.write_bytes(b"something")
    with pytest.raises(LabError, match="is not valid") as caught:
        download.verify_signature(file, b"rubbish", releases.KEYS.read_text(), file.name)
    assert "signature" in caught.value.found


def test_the_key_of_the_lab_is_the_one_that_the_vendor_signs_with(tmp_path: Path) -> None:
    """The vendor's signature of 9.7.2's source is known, though not one of this file."""
    made_by_vendor = (CAPTURED / "mysql-9.7.2.tar.gz.asc").read_bytes()
    file = tmp_path / "mysql-9.7.2.tar.gz"
    file.write_bytes(b"something else")
    with pytest.raises(LabError, match="is not the file that its vendor signed"):
        download.verify_signature(file, made_by_vendor, releases.KEYS.read_text(), file.name)


def test_three_keys_come_with_the_lab() -> None:
    """Of releases before 8.0.28, of those until 2023, and of those since."""
    packets = download.dearmored(releases.KEYS.read_text())
    # Old-format public key packets of version 4 begin so; the bytes are the dates of creation.
    dates = (b"\x04\x3e\x3e\xa3\x0c", b"\x04\x61\xb8\xba\xb7", b"\x04\x65\x36\xac\xda")
    assert [packets.count(date) for date in dates] == [1, 1, 1]
