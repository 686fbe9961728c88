"""What the installed programs know about settings: their names, and the values they would take.

`mysqld --verbose --help` and `ndb_mgmd --print-full-config` read a configuration, print all of it
with defaults filled in, and start nothing. They are in every installation of the lab, unlike
ndb_config.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.comparing import knobs
from ndblab.comparing.knobs import Knob
from ndblab.error import LabError
from ndblab.machine import commands
from ndblab.planning import config

if TYPE_CHECKING:
    from ndblab.install import Binaries

_TABLE = "Variables (--variable-name=value)"
_UNSET = "(No default value)"
_HEAD = re.compile(r"\[(\w+)(?:\(\w+\))?\]")
_SECTION = {
    "ndbd": "ndbd default", "mysqld": "mysqld default", "tcp": "tcp default", "shm": "shm default",
}  # fmt: skip
_OF_A_NODE = {
    "nodeid", "hostname", "serverport", "portnumber", "nodeid1", "nodeid2", "hostname1",
    "hostname2", "nodeidserver", "group", "nodegroup", "dedicated", "shmkey", "executeoncomputer",
    "filesystempathdd", "filesystempathdatafiles", "filesystempathundofiles",
}  # fmt: skip
"""Parameters that say which node is where, and nothing about how it works."""
_OF_A_SERVER = {
    "admin_address", "admin_port", "bind_address", "default_authentication_plugin",
    "log_bin_index", "log_error", "mysqlx", "mysqlx_bind_address", "mysqlx_port", "mysqlx_socket",
    "ndb_connectstring", "ndb_cluster_connection_pool_nodeids", "ndb_mgmd_host", "ndb_nodeid",
    "ndbcluster", "port", "relay_log", "relay_log_index", "report_host", "report_port",
    "secure_file_priv", "server_id", "skip_networking", "socket", "user",
}  # fmt: skip
"""Variables of mysqld that the lab itself sets: ports, accounts, and files that `_FILE` misses."""
_FILE = re.compile(
    r"(dir|dirs|directory|directories|path|(?<!status)_file)$|(^|_)(ssl|tls)_(ca|cert|crl|key)$"
)
"""Endings of the names of settings whose values are files or folders."""
_COMPLAINT = re.compile(r"ERROR +-- (.*(?:\nLegal values.*)?)")


def placed(name: str) -> bool:
    """Return whether a setting says which node it is, or where: the lab places its nodes itself.

    >>> placed("FileSystemPathDD"), placed("init-file"), placed("local_infile")
    (True, True, False)
    """
    plain = knobs.folded(name)
    return plain in _OF_A_NODE | _OF_A_SERVER or bool(_FILE.search(plain))


def refuse_placed(word: str) -> None:
    """Refuse a typed setting that says where nodes are; the LabError says what to do."""
    name = word.partition("=")[0].rpartition(":")[2]
    if not placed(name):
        return
    plain, next_step = knobs.folded(name), "Leave it out."
    if plain == "init_file":
        next_step = "Name what the file sets, such as ndb_batch_size=64K."
    elif _FILE.search(plain) or plain.startswith("filesystempath"):
        next_step += (
            " With NDBLAB_CLUSTER_DIR=FOLDER, all files of the lab's clusters are on the disk of "
            "that folder."
        )
    raise LabError(
        f"{name} is not compared: the lab itself decides where its nodes and their files are",
        found=word,
        expected="a setting of how nodes work",
        next_step=next_step,
    )


def variables(text: str) -> dict[str, str]:
    """Read the variables that `mysqld --verbose --help` prints, by folded name."""
    _, _, table = text.partition(_TABLE)
    rows = (line.split(None, 1) for line in table.splitlines()[2:])
    pairs = ((row[0], row[1].strip() if len(row) > 1 else "") for row in rows if row)
    return {
        knobs.folded(name): "" if value == _UNSET else value
        for name, value in pairs
        if re.fullmatch(r"[a-z0-9-]+", name)
    }


def parameters(text: str) -> dict[str, dict[str, str]]:
    """Read the first section of each kind that `ndb_mgmd --print-full-config` prints."""
    sections: dict[str, dict[str, str]] = {}
    current: dict[str, str] | None = None
    for line in text.splitlines():
        if head := _HEAD.fullmatch(line):
            section = _SECTION.get(head[1].lower(), "")
            current = {} if not section or section in sections else sections.setdefault(section, {})
        elif current is not None and "=" in line:
            name, _, value = line.partition("=")
            if not placed(name) and not name.startswith("__"):
                current[name] = value
    return sections


def unlisted(known: Mapping[str, str], params: Mapping[str, Mapping[str, str]]) -> list[Knob]:
    """Return a knob for each variable and parameter; those of the lab's table take precedence."""
    rows = [(name, knobs.MY_CNF, "mysqld", "") for name in known if not placed(name)]
    rows += [
        (name, knobs.CONFIG_INI, section, knobs.SWITCH if value in ("0", "1") else "")
        for section, values in params.items()
        for name, value in values.items()
    ]
    return [Knob(*row, knobs.INITIAL, knobs.UNLISTED) for row in rows]


def read_variables(binaries: Binaries, my_cnf: str) -> dict[str, str]:
    """Return the variables that a mysqld would have with a my.cnf, by folded name.

    An illegal value is replaced by the nearest legal one, and an unknown option is left out.
    LabError if mysqld fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / config.MY_CNF
        file.write_text(my_cnf)
        argv = [binaries.mysqld, f"--defaults-file={file}", *binaries.mysqld_args]
        argv += [f"--datadir={folder}", "--verbose", "--help"]
        return variables(commands.output(argv, what="mysqld does not accept these settings"))


def read_parameters(binaries: Binaries, config_ini: str) -> dict[str, dict[str, str]]:
    """Return the parameters of a config.ini as the management node would read them, by section.

    LabError if it does not know a parameter, or refuses a value; the error names the legal ones.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / config.CONFIG_INI
        here = {"DataDir": folder}
        file.write_text(config.overlaid(config_ini, {"ndb_mgmd": here, "ndbd": here}))
        argv = [binaries.ndb_mgmd, "--no-defaults", f"--configdir={folder}", "--print-full-config"]
        argv += [f"--config-file={file}"]
        argv += config.tls_options(folder, binaries.mysqld_version)
        try:
            text = commands.output(argv, what="ndb_mgmd does not accept these settings")
        except commands.ChildFailed as failure:
            # It exits with 1 even after it has printed all.
            text = failure.output
    if "[SYSTEM]" not in text:
        raise refused(text)
    return parameters(text)


def refused(output: str) -> LabError:
    """Return the error that ndb_mgmd's output reports."""
    match = _COMPLAINT.search(output)
    return LabError(
        "ndb_mgmd does not accept these settings",
        found=" ".join(match[1].split()) if match else output.strip()[-300:] or "no message",
        next_step="Correct the setting that it names.",
    )
