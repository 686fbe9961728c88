"""The account of MySQL servers that are not the lab's."""

from __future__ import annotations

import getpass
import ssl
from pathlib import Path

import pytest

from certificates import an_authority
from ndblab.attach import login
from ndblab.attach.login import Login
from ndblab.error import LabError


def written(folder: Path, text: str) -> dict[str, str]:
    (folder / ".my.cnf").write_text(text)
    return {"HOME": str(folder)}


def test_user_and_password_come_from_the_option_file_of_mysql(tmp_path: Path) -> None:
    """The user that an endpoint names comes first."""
    home = written(tmp_path, '[mysqld]\nuser=mysql\n[client]\nuser=bench\npassword="a#b\'c"\n')
    assert login.find("", home) == Login("bench", "a#b'c")
    assert login.find("other", home).user == "other"
    named = {"HOME": "/nowhere", login.FILE: str(tmp_path / ".my.cnf")}
    assert login.find("", named).password == "a#b'c"


def test_tls_is_used_as_the_option_file_of_mysql_says(tmp_path: Path) -> None:
    """Preferred without a word; an authority is checked; names only if that is asked for."""
    authority = an_authority(tmp_path / "ca.pem")
    modes = {
        "": (login.PREFERRED, ssl.CERT_NONE, False),
        "ssl_mode=required": (login.REQUIRED, ssl.CERT_NONE, False),
        f"ssl-ca={authority}": (login.VERIFY_CA, ssl.CERT_REQUIRED, False),
        f"ssl-ca={authority}\nssl-mode=VERIFY_IDENTITY":
            (login.VERIFY_IDENTITY, ssl.CERT_REQUIRED, True),
    }  # fmt: skip
    for lines, (mode, verified, names) in modes.items():
        account = login.find("", written(tmp_path, f"[client]\n{lines}\n"))
        context = account.tls()
        assert account.mode == mode
        assert (context.verify_mode, context.check_hostname) == (verified, names)
    assert login.find("", written(tmp_path, "[client]\nssl-mode=DISABLED\n")).tls() is None
    with pytest.raises(LabError, match="unknown ssl-mode"):
        login.find("", written(tmp_path, "[client]\nssl-mode=ALWAYS\n"))
    missing = login.find("", written(tmp_path, "[client]\nssl-ca=/no/ca.pem\n"))
    with pytest.raises(LabError, match=r"ssl-ca=/no/ca\.pem cannot be read"):
        missing.tls()


def test_without_an_option_file_the_environment_has_the_password(tmp_path: Path) -> None:
    """The user is then that of this process, as for MySQL's own clients."""
    known = {"HOME": str(tmp_path), login.PASSWORD: "secret"}
    assert login.find("", known) == Login(getpass.getuser(), "secret")
    assert login.find("", {"HOME": str(tmp_path)}).password == ""


def test_an_option_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Its content is not in the message."""
    for known, reason in (
        ({login.FILE: "/nowhere/my.cnf"}, "/nowhere/my.cnf: No such file"),
        (written(tmp_path, "password=secret\n"), "before the first group in line 1 of"),
    ):
        with pytest.raises(LabError, match="cannot be read") as caught:
            login.find("", known)
        assert reason in str(caught.value)
        assert "secret" not in str(caught.value)


def test_an_empty_password_of_the_option_file_counts(tmp_path: Path) -> None:
    """It hides that of the environment, as for MySQL's own clients."""
    home = written(tmp_path, "[client]\npassword=\n")
    assert login.find("", home | {login.PASSWORD: "secret"}).password == ""


def test_a_password_is_shown_nowhere() -> None:
    assert "secret" not in repr(Login("bench", "secret"))


@pytest.mark.parametrize(
    ("password", "text"),
    [
        ("", b""),
        ("a b#'c", b'mysql-password="a b#\'c"\n'),
        ('a"b', b"mysql-password='a\"b'\n"),
        ("gr\udcfc\udcdfe", b'mysql-password="gr\xfc\xdfe"\n'),
    ],
)
def test_sysbench_gets_the_password_in_quotes(password: str, text: bytes) -> None:
    assert Login("bench", password).sysbench_options() == text


@pytest.mark.parametrize("password", ["'\"", "a\nb", "x" * 300])
def test_a_password_that_sysbench_cannot_read_is_refused(password: str) -> None:
    with pytest.raises(LabError, match="sysbench cannot read") as caught:
        Login("bench", password).sysbench_options()
    assert password not in str(caught.value)
