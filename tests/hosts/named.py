"""Hosts as a user names them: in a file for --hosts, and in the settings of SSH."""

from __future__ import annotations

from pathlib import Path

from ndblab.hosts import namespaces
from ndblab.hosts.namespaces import Network


def described(folder: Path, **hosts: str) -> str:
    """Hosts in a file, each with the lines that are given, and a folder of its own without one."""
    tables = (
        f'[[host]]\nname = "{name}"\n{lines}\n'
        + ("" if "folder" in lines else f'folder = "{folder}/{name}"\n')
        for name, lines in hosts.items()
    )
    file = folder / "hosts.toml"
    file.write_text("".join(tables))
    return str(file)


def alias(
    network: Network, name: str, host: str, option="", more="", key: Path | None = None
) -> str:
    """Give a host another name for SSH, and return it.

    Parameters
    ----------
    option : of a key of this name, which all its logins have.
    more : settings of SSH besides.
    key : that of the user, if no other is to be used.
    """
    key = key or (_authorized(network, name, option) if option else network.folder / "key")
    address = network.hosts[host].address
    add_settings(network, f"Host {name}\n HostName {address}\n IdentityFile {key}\n{more}")
    return name


def add_settings(network: Network, text: str) -> None:
    """Add entries to the client's ssh_config; the first that matches counts."""
    network.settings.write_text(text + network.settings.read_text())


def _authorized(network: Network, name: str, options: str) -> Path:
    """Make a key that all hosts accept, under options of sshd(8), and return its path."""
    key = namespaces._key(network.folder / name)
    with (network.folder / "authorized_keys").open("a") as file:
        file.write(f"{options} {key.with_suffix('.pub').read_text()}")
    return key


def shell(before: str) -> str:
    """The option of a key whose shell does something before each command."""
    return f'command="{before}; eval \\"$SSH_ORIGINAL_COMMAND\\""'


def as_other_user(home: str) -> str:
    """The option of a key by which commands are those of a user without rights."""
    become = f"exec setpriv --reuid 12345 --regid 12345 --clear-groups env HOME={home}"
    return f'command="{become} sh -c \\"$SSH_ORIGINAL_COMMAND\\""'
