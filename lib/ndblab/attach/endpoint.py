"""Endpoints: where to reach MySQL servers that the lab did not start."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from ndblab.error import LabError
from ndblab.planning import number

OPTION = "--endpoints"
_FORM = "/path/to/socket or host:port, each with user@ before it if need be, separated by commas"


@dataclass(frozen=True)
class Endpoint:
    """One MySQL server: by its Unix socket, or by host and port."""

    socket: str = ""
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.socket or f"{host}:{self.port}"

    @property
    def on_network(self) -> bool:
        """Whether what is sent to it leaves this host, as far as the address shows."""
        if self.socket or self.host == "localhost":
            return False
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return True


def parse(text: str) -> tuple[tuple[Endpoint, ...], str]:
    """Read endpoints; return them, and the user that they name, empty if they name none.

    >>> parse("bench@/run/a.sock,/run/b.sock")[1]
    'bench'
    >>> [str(place) for place in parse("db1:3306,[::1]:3306")[0]]
    ['db1:3306', '[::1]:3306']

    LabError if one cannot be read or is named twice, if they name several users, or if sysbench
    cannot load them together.
    """
    users, places = [], []
    for word in (word.strip() for word in text.split(",")):
        user, _, place = word.rpartition("@")
        users += [user] if user else []
        places.append(_endpoint(place))
    if len(set(users)) > 1:
        raise _unusable("Endpoints name several users", ", ".join(dict.fromkeys(users)), "one user")
    if twice := [str(place) for place in dict.fromkeys(places) if places.count(place) > 1]:
        raise _unusable("An endpoint is named twice", ", ".join(twice), "each server once")
    _check_together(places)
    return tuple(places), users[0] if users else ""


def _endpoint(place: str) -> Endpoint:
    if place.startswith("/"):
        return Endpoint(socket=place)
    host, colon, port = place.rpartition(":")
    if not colon or not host or (":" in host and not host.startswith("[")):
        raise _unusable(f"{OPTION} has an endpoint that cannot be read", repr(place), _FORM)
    return Endpoint(host=host.strip("[]"), port=number.whole(OPTION, port, 1, 65535))


def _check_together(endpoints: Sequence[Endpoint]) -> None:
    """Refuse endpoints that sysbench cannot load together.

    It takes a list of sockets, or hosts and ports, and then uses every port on every host.
    """
    hosts = {place.host for place in endpoints if place.host}
    ports = {place.port for place in endpoints if place.host}
    mixed = bool(hosts) and any(place.socket for place in endpoints)
    if mixed or min(len(hosts), len(ports)) > 1:
        raise _unusable(
            "sysbench cannot load these endpoints together",
            ", ".join(map(str, endpoints)),
            "sockets only, ports of one host, or the same port of several hosts",
        )


def _unusable(what: str, found: str, expected: str) -> LabError:
    return LabError(what, found=found, expected=expected, next_step=f"Correct {OPTION}.")
