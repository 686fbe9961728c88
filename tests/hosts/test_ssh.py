"""Refusals of OpenSSH's client, captured from version 9.2, as messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.hosts import ssh

CAPTURED = Path(__file__).parents[1] / "captured/ssh"


def refusal(name: str, exit_status: int | None = 255) -> str:
    """The message for a captured refusal of the host db1."""
    lines = (CAPTURED / f"{name}.txt").read_text().splitlines(keepends=True)
    return str(ssh.refusal("db1", lines, exit_status))


@pytest.mark.parametrize(
    ("name", "what", "found", "next_step"),
    [
        ("unknown", "host db1 is unknown", "Name or service not known", "~/.ssh/config"),
        ("new", "host key of db1 is not known", "verification failed", "ssh db1 true"),
        ("changed", "host key of db1 has changed", "SHA256:", "ssh-keygen -f"),
        ("denied", "db1 does not let you in", "publickey", "ssh-copy-id db1"),
        ("refused", "db1 cannot be reached", "Connection refused", "ssh db1 true"),
        ("no_route", "db1 cannot be reached", "No route to host", "ssh db1 true"),
        ("timed_out", "db1 cannot be reached", "timed out", "ssh db1 true"),
    ],
)
def test_each_refusal_names_the_host_the_reason_and_the_next_step(
    name: str, what: str, found: str, next_step: str
):
    """So that nobody has to know what OpenSSH means."""
    said, found_line, _, todo = refusal(name).splitlines()
    assert what in said
    assert found in found_line
    assert next_step in todo


def test_a_changed_key_is_never_forgotten_without_a_warning():
    """The message says what it may mean before it says what to type, and which key was known."""
    text = refusal("changed")
    assert text.index("posing as that host") < text.index("ssh-keygen")
    assert "known_hosts:1" in text


def test_what_is_not_known_is_shown_as_it_is():
    """The last line counts, and a silent end has its exit status."""
    said = ["Last login: today\n", "This account is currently not available.\n"]
    assert "found:    This account is" in str(ssh.refusal("db1", said, 1))
    assert "exit status 254" in str(ssh.refusal("db1", [], 254))


def test_a_host_that_says_nothing_in_time_is_one_message():
    """Though the client itself did not complain."""
    assert "db1 does not answer" in str(ssh.refusal("db1", [], None))


def test_nothing_prompts_and_a_destination_is_no_option():
    """A host named like an option of the client is refused by it as a host."""
    words = ssh.Connection("-oProxyCommand=false").command("true")
    assert "BatchMode=yes" in words
    assert words[words.index("--") + 1 :] == ["-oProxyCommand=false", "true"]
