"""The programs that dump and compress: which there are, their versions, their commands.

It starts nothing but programs that print their version.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.experiments.dump import GZIP, MYSQL_SHELL, MYSQLDUMP, UNCOMPRESSED, ZSTD
from ndblab.install import discovery, packages
from ndblab.machine import commands
from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import Command

if TYPE_CHECKING:
    from ndblab.install import Binaries
    from ndblab.workloads.load_generator import Job

SHELL_THREADS = 4
"""The default of MySQL Shell."""
_COMPRESS = {ZSTD: ("-3", "-T1", "-q", "-c"), GZIP: ("-6", "-c")}
"""The default levels of both, spelt out, and one thread: newer versions of zstd take several."""
_NDB_TABLES = ("--no-tablespaces", "--set-gtid-purged=OFF")
"""Tables in memory have no tablespace; a dump of one database does not restore a server."""
_SUFFIXES = {UNCOMPRESSED: "", ZSTD: ".zst", GZIP: ".gz"}
_VERSION = re.compile(r"\b(?:Ver |v|gzip )(\d+(?:\.\d+)+)")


def tool() -> str:
    """Return the program that dumps on this machine."""
    return MYSQL_SHELL if shutil.which(MYSQL_SHELL) else MYSQLDUMP


def versions(binaries: Binaries) -> dict[str, str]:
    """Return the versions of the programs by name; LabError if one is missing or does not run."""
    if tool() == MYSQL_SHELL:
        programs = {MYSQL_SHELL: (MYSQL_SHELL,)}
    else:
        programs = {MYSQLDUMP: (*packages.client_argv(binaries, MYSQLDUMP), "--no-defaults")}
        programs |= {name: (discovery.on_path(name, name),) for name in _COMPRESS}
    numbers = {}
    for name, argv in programs.items():
        text = commands.output([*argv, "--version"], what=f"{name} does not run")
        match = _VERSION.search(text)
        numbers[name] = match[1] if match else "unknown"
    return numbers


def compression(job: Job) -> str:
    """Return how a job compresses its dump."""
    return str(job.options.get("compression", UNCOMPRESSED))


def script(job: Job, folder: Path) -> Path:
    """Return the file that mysqldump's output goes to."""
    return folder / f"dump.sql{_SUFFIXES[compression(job)]}"


def command(job: Job, folder: Path) -> Command:
    """Return the command that dumps the tables of sysbench through the first server's socket.

    LabError if a program is missing.
    """
    connection = [f"--socket={job.servers[0].socket}", "--user=root"]
    if tool() == MYSQL_SHELL:
        options = {"compression": compression(job), "threads": SHELL_THREADS, "showProgress": False}
        arguments = ([sysbench.DATABASE], str(folder), options)
        call = f"util.dumpSchemas({', '.join(map(json.dumps, arguments))})"
        words = ["--mysql", *connection, "--no-password", "--js", "--execute", call]
        return Command([MYSQL_SHELL, *words])
    mysqldump = [*packages.client_argv(job.binaries, MYSQLDUMP), "--no-defaults", "--password="]
    line = shlex.join([*mysqldump, *connection, *_NDB_TABLES, sysbench.DATABASE])
    if flags := _COMPRESS.get(compression(job)):
        compressor = discovery.on_path(compression(job), compression(job))
        line += f" | {shlex.join([compressor, *flags])}"
    line += f" > {shlex.quote(str(script(job, folder)))}"
    return Command(["bash", "-o", "pipefail", "-c", line])


def decompress(job: Job, folder: Path) -> Command:
    """Return the command that prints what mysqldump wrote; not for an uncompressed dump."""
    return Command([compression(job), "-d", "-c", "-q", str(script(job, folder))])
