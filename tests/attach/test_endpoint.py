"""Endpoints as a user types them."""

from __future__ import annotations

import pytest

from ndblab.attach import endpoint
from ndblab.attach.endpoint import Endpoint
from ndblab.error import LabError


def test_sockets_and_ports_are_read_with_their_user() -> None:
    """The user may stand before one or before all."""
    assert endpoint.parse("/a.sock, /b.sock") == ((Endpoint("/a.sock"), Endpoint("/b.sock")), "")
    places, user = endpoint.parse("bench@db1:3306,bench@db2:3306")
    assert [(place.host, place.port) for place in places] == [("db1", 3306), ("db2", 3306)]
    assert user == "bench"
    [six], _ = endpoint.parse("[2001:db8::1]:3307")
    assert (six.host, six.port, str(six)) == ("2001:db8::1", 3307, "[2001:db8::1]:3307")


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("", "cannot be read"),
        ("db1", "cannot be read"),
        ("2001:db8::1:3306", "cannot be read"),
        ("db1:mysql", "not usable"),
        ("db1:70000", "not usable"),
        ("a@/x,b@/y", "several users"),
        ("/x,/x", "named twice"),
        ("/x,db1:3306", "together"),
        ("db1:3306,db2:3307", "together"),
    ],
)
def test_what_cannot_be_loaded_is_refused_before_anything_is_asked(typed: str, word: str) -> None:
    """The message says which word, and names the option."""
    with pytest.raises(LabError, match=word) as caught:
        endpoint.parse(typed)
    assert "--endpoints" in str(caught.value)


def test_what_leaves_the_host_is_known() -> None:
    """Sockets and loopback do not."""
    words = ("/x", "localhost:1", "127.0.0.1:1", "[::1]:1", "192.0.2.7:1", "db1:1")
    on_network = [endpoint.parse(word)[0][0].on_network for word in words]
    assert on_network == [False, False, False, False, True, True]
