"""What the user names as a workload: one of the lab's, or a file or a program of the user's own.

A workload of the user's own is named after the hash of its content: file names are no part of a
dataset. From then on, `registry` finds its generator by that name.
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ndblab import discovery
from ndblab.error import LabError, writing
from ndblab.install import cache
from ndblab.install.binaries import sha256
from ndblab.planning.workload import LOG, LUA, OWN, PROGRAM, SQL, SYSBENCH
from ndblab.workloads import registry, sysbench
from ndblab.workloads.load_generator import LoadGenerator
from ndblab.workloads.own import dump_file, program, replay, slow_log, sql_file, sql_script
from ndblab.workloads.own.program_load import ProgramLoad
from ndblab.workloads.own.scripted import Scripted, prepares, takes

MOST_CHECKED = 1000
"""Kinds of statements of a slow log that the server checks before it is replayed."""
_FORMS = "NAME, file.lua, file.sql, slow.log, or 'program {socket} {seconds}'"
_REQUIRED = re.compile(r"\brequire\s*\(?\s*[\"']([\w.-]+)[\"']")


@dataclass(frozen=True)
class Workload:
    """A workload: the `name` that points have, and its generator.

    `label` is what the user calls it, for sentences. The clients of a load that is `apart` take no
    turns: the user's own script may connect at any time, and clients that replay a log with writes
    would wait with transactions open.
    """

    name: str
    label: str
    generator: LoadGenerator
    apart: bool = False

    @property
    def takes_turns(self) -> bool:
        """Return whether its clients can take turns: only sysbench's can, whose sessions stay."""
        return self.generator.ROLE == SYSBENCH and not self.apart

    @property
    def may_join(self) -> bool:
        """Return whether a query may join tables, which none in sysbench's own scripts does."""
        return self.name not in sysbench.SCRIPTS


def resolve(
    name: str | Path,
    schema: str | Path | None = None,
    writes: bool = False,
    tell: Callable[[str], None] = lambda text: print(text, file=sys.stderr),
    in_place: bool = False,
) -> Workload:
    """Find or make the load generator of a workload.

    LabError if there is no such workload, or its file or its tables cannot be used.

    Parameters
    ----------
    name : the name of a workload, the path of a file, or the command line of a program.
    schema : the path of a dump with the tables; without it, they are sysbench's.
    writes : for a slow log, also replay statements that change data.
    tell : called with what the user should know, such as that a log is sampled.
    in_place : replay a slow log in the databases that it names, which exist.
    """
    text = str(name).strip()
    path = Path(text).expanduser()
    if schema is not None:
        schema = Path(schema).expanduser().absolute()
        dump_file.check(schema)
    kind = _kind(text, path)
    if writes and kind != LOG:
        raise LabError("Writes are replayed from a slow log only", found=text,
                       next_step="Drop the option.")  # fmt: skip
    if kind is None:
        return _known(text, schema)
    digest = sha256(schema) if schema else ""
    if kind == PROGRAM:
        made = _program(text, schema, digest)
    elif kind == LOG:
        made = _log(path, schema, digest, writes, tell, in_place)
    elif kind == SQL:
        made = _sql(path, schema, digest)
    else:
        made = _lua(path, schema, digest)
    registry.add(made.name, made.generator)
    return made


def _kind(text: str, path: Path) -> str | None:
    """Return what the user has named; None for a name."""
    if "{" in text:
        return PROGRAM
    known = {".sql": SQL, ".lua": LUA, ".log": LOG}.get(path.suffix.lower())
    if path.is_file():
        if path.stat().st_size == 0:
            raise LabError(f"{path} is empty", expected=_FORMS, next_step="Give another file.")
        if known:
            return known
        with path.open("rb") as stream:
            if b"# User@Host:" in stream.read(100_000):
                return LOG
        raise LabError(
            f"{path} is no workload",
            found=f"a file that ends in {path.suffix or 'no suffix'}",
            expected=_FORMS,
            next_step=dump_file.decompress(path)
            or "Rename it, or give a program with {socket} and {seconds}.",
        )
    if known or "/" in text:
        raise LabError(
            f"The workload {text} does not exist",
            found="a folder" if path.is_dir() else "no such file",
            expected=_FORMS,
            next_step="Correct the path.",
        )
    if len(text.split()) > 1:
        raise LabError(
            "A program that loads the cluster must be told where it is, and for how long",
            found=text,
            expected="{socket} and {seconds} in its command line",
            next_step="Try: 'PROGRAM --socket={socket} --time={seconds}'",
        )
    return None


def _known(name: str, schema: Path | None) -> Workload:
    known = {*sysbench.SCRIPTS, *registry.names()}
    if name not in known and discovery.file(f"{name}.lua") is None:
        close, names = difflib.get_close_matches(name, known, 3), ", ".join(sysbench.SCRIPTS)
        raise LabError(
            f"There is no workload called {name}",
            expected=f"perhaps {' or '.join(close)}" if close else f"{_FORMS}; names: {names}",
            next_step="Choose one with --workload.",
        )
    if schema is not None:
        raise LabError(
            "A schema belongs to a workload of your own",
            found=f"--schema with {name}, which has tables of its own",
            next_step="Drop --schema, or give a file with --workload.",
        )
    return Workload(name, name, registry.find(name))


def _sql(path: Path, schema: Path | None, digest: str) -> Workload:
    units = sql_file.parse(_text(path), path.name)
    script = sql_script.compiled(units)
    statements = [
        (f"statement {statement.number} (line {statement.line})", statement.example(unit.named))
        for unit in units
        for statement in unit.statements
    ]
    name = _name(SQL, script.encode(), digest)
    file = _kept(f"{name}.lua", script.encode())
    generator = Scripted(
        path.name, file, {file.name: script}, schema, statements=tuple(statements),
        reads_only=all(slow_log.reads(text) for _, text in statements),
    )  # fmt: skip
    return Workload(name, path.name, generator)


def _log(
    path: Path,
    schema: Path | None,
    digest: str,
    writes: bool,
    tell: Callable[[str], None],
    in_place: bool,
) -> Workload:
    size = path.stat().st_size
    if size > slow_log.MOST_BYTES:
        tell(f"{path.name} has {size / 1e9:.1f} GB: {slow_log.MOST_BYTES / 1e6:.0f} MB of it are "
             f"read, in {slow_log.PARTS} parts spread evenly.")  # fmt: skip
    sample = slow_log.sample(path, writes, in_place=in_place)
    if sample.left_out:
        others = "are no queries" if writes else "write, lock or are no queries"
        tell(f"{path.name}: {sample.statements} statements of {len(sample.connections)} "
             f"connections; {sample.left_out} more {others}, and are left out.")  # fmt: skip
    data = replay.packed(sample)
    name = _name(LOG, data + bytes(writes) + "".join(sample.databases).encode(), digest)
    file = _kept(f"{name}.data", data)
    script = replay.compiled(sample, str(file), writes)
    lua = _kept(f"{name}.lua", script.encode())
    entries = itertools.islice(sample.kinds().values(), MOST_CHECKED)
    checked = {f"statement at byte {entry.at}": entry for entry in entries}
    generator = Scripted(
        path.name, lua, {lua.name: script}, schema,
        statements=tuple((place, entry.statement) for place, entry in checked.items()),
        databases={place: entry.database for place, entry in checked.items() if entry.database},
        reads_only=not writes,
    )  # fmt: skip
    return Workload(name, path.name, generator, apart=writes)


def _lua(path: Path, schema: Path | None, digest: str) -> Workload:
    script, whole = _text(path), _with_required(path)
    name = _name(LUA, whole.encode(), digest)
    file = _kept(f"{name}.lua", script.encode())
    generator = Scripted(
        path.name, file, {file.name: script}, schema,
        own_prepare=schema is None and prepares(whole),
        takes=takes(whole),
        folder=path.absolute().parent,
    )  # fmt: skip
    return Workload(name, path.name, generator, apart=True)


def _program(text: str, schema: Path | None, digest: str) -> Workload:
    line = program.read(text)
    name = _name(PROGRAM, line.sha256.encode(), digest)
    label = Path(line.argv[0]).name
    generator = ProgramLoad(label, line, {f"{name}.txt": f"{text}\n"}, schema)
    return Workload(name, label, generator)


def _name(kind: str, content: bytes, schema: str) -> str:
    digest = hashlib.sha256(kind.encode() + content + schema.encode()).hexdigest()
    return f"{OWN}{kind}_{digest[:12]}"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise LabError(
            f"{path} is not UTF-8",
            found=f"byte {error.start}: {error.reason}",
            next_step=f"Convert it, for example: iconv -f latin1 -t utf-8 {path.name}",
        ) from None


def _with_required(path: Path) -> str:
    """Return a script with all that it requires from its own folder."""
    texts, left = {}, [path]
    while left:
        script = left.pop()
        if script in texts or not script.is_file():
            continue
        texts[script] = _text(script)
        left += [path.parent / f"{name}.lua" for name in _REQUIRED.findall(texts[script])]
    return "\n".join(texts.values())


def _kept(name: str, content: bytes) -> Path:
    """Keep a file of this content in the user's cache, where sysbench reads it."""
    file = cache.location() / "workloads" / name
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_name(f"{name}.{os.getpid()}")
        partial.write_bytes(content)
        partial.replace(file)
    return file
