"""What the lab sends to another host runs there, with nothing but an older Python."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from stand_ins import put_program

import waiting
from ndblab.hosts import agent, boot, launch, wire
from ndblab.machine import cgroups, host
from ndblab.machine.local import LOCAL
from ndblab.machine.own_cgroup import CpuController

PYTHONS = [f"python3.{minor}" for minor in range(launch.OLDEST_PYTHON[1], 15)]
SENT = zipfile.ZipFile(io.BytesIO(launch._archive()))
NEEDED_THERE = {
    f"ndblab/{name}.py"
    for name in ("hosts/agent", "hosts/guard", "hosts/wire", "machine/local", "machine/cgroups")
}


def works(python: str) -> bool:
    """Whether there is a Python of this name; version managers put names on PATH without one."""
    if shutil.which(python) is None:
        return False
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def started(argv: list[str], facts: dict, **changed) -> Iterator[tuple[subprocess.Popen, dict]]:
    """Run an agent on this machine; yield it and its answer."""
    order = launch.order({"silence_s": 20, "lab": "a test", "name": "a", "keep": False, **facts})
    for old, new in changed.items():
        order = order.replace(old.encode(), new.encode())
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with subprocess.Popen(argv, **pipes) as child:
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(order)
            child.stdin.flush()
        line = child.stdout.readline().decode()
        assert line.startswith(launch.GREETING), line
        yield child, json.loads(line.removeprefix(launch.GREETING))
        with contextlib.suppress(BrokenPipeError):
            child.stdin.close()
        child.wait(20)


@pytest.mark.parametrize("name", sorted(set(SENT.namelist())))
def test_what_is_sent_is_understood_by_the_oldest_python(name: str):
    """As far as its syntax goes."""
    if name.startswith("ndblab"):
        ast.parse(SENT.read(name), feature_version=launch.OLDEST_PYTHON)


def test_what_is_sent_needs_no_other_package():
    """The standard library, psutil, and what is sent with it."""
    names = SENT.namelist()
    for name in (name for name in names if name.startswith("ndblab")):
        for node in ast.walk(ast.parse(SENT.read(name))):
            imported = [node.module] if isinstance(node, ast.ImportFrom) else []
            imported += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in imported:
                package = module.partition(".")[0]
                assert package in sys.stdlib_module_names | {"ndblab", "psutil"}, (name, module)
    assert set(names) >= NEEDED_THERE


@pytest.mark.parametrize("python", [sys.executable, *PYTHONS])
def test_the_agent_serves_under_every_python_that_is_here(python: str, tmp_path: Path):
    """From memory: it writes no file but in its folder, which is gone afterwards."""
    if python != sys.executable and not works(python):
        pytest.skip(f"no {python} here")
    argv = [python, *boot.OPTIONS]
    folder = tmp_path / "cluster"
    with started(argv, {"folder": str(folder)}) as (child, answer):
        assert "error" not in answer
        assert answer["folder"] == str(folder)
        link = wire.Link(child.stdout, child.stdin, "a", ConnectionError)
        threading.Thread(target=link.serve, daemon=True).start()
        assert link.begin("run", ["echo", "hello"], what="failed").result(20) == "hello\n"
        assert link.begin("usable_cpus").result(20) == LOCAL.usable_cpus()
        assert link.begin("host").result(20)["kernel"] == platform.release()
        assert [path.name for path in tmp_path.iterdir()] == ["cluster"]
    waiting.until(lambda: not folder.exists(), 20, "its end")


def test_the_first_good_python_of_a_host_is_taken(tmp_path: Path):
    """A newer one beside an old `python3`."""
    put_program(tmp_path / "python3", "#!/bin/sh\nexit 1\n")
    good = '#!/bin/sh\ncase "$*" in *exec*) echo taken;; esac\n'
    put_program(tmp_path / launch._NAMES[1], good)
    env = {**os.environ, "PATH": str(tmp_path)}
    argv = ["/bin/sh", "-c", launch.command()]
    done = subprocess.run(argv, env=env, input="", capture_output=True, text=True, check=False)
    assert done.stdout == "taken\n"


def test_a_machine_of_another_kind_says_which(tmp_path: Path):
    """Before anything that was built for this one is loaded."""
    argv = [sys.executable, *boot.OPTIONS]
    changed = {f'"machine": "{platform.machine()}"': '"machine": "s390x"'}
    with started(argv, {"folder": str(tmp_path / "x")}, **changed) as (_, answer):
        assert answer["machine"] == platform.machine()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_other_files_is_refused(tmp_path: Path):
    """The agent removes its folder at the end, so it never takes a user's."""
    (tmp_path / "thesis.tex").touch()
    argv = [sys.executable, *boot.OPTIONS]
    with started(argv, {"folder": str(tmp_path)}) as (_, answer):
        assert "thesis.tex" in str(wire.error_from(answer["error"], "db1"))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("kind", ["systemd", "cgroup2"])
def test_the_agent_starts_anew_where_only_a_scope_may_limit_cpus(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """It asks for everything again; if systemd refuses, it has read that and continues."""

    class Described:
        cpu_controller = CpuController(kind, "", "")

    entered = []
    monkeypatch.setattr(host, "read", Described)
    monkeypatch.setattr(cgroups, "enter_scope", lambda _, argv: entered.append(argv))
    monkeypatch.delenv("NDBLAB_SCOPE", raising=False)
    stream = io.BytesIO(launch.order({}) + b"frames")
    agent._enter_scope({"greeting": launch.GREETING}, stream)
    if kind == "systemd":
        assert entered == [[sys.executable, *boot.OPTIONS]]
        assert capsys.readouterr().out == launch.GREETING + '{"again": true}\n'
        assert stream.read() == b"frames"
    else:
        assert (entered, stream.tell()) == ([], 0)


def test_what_a_shell_prints_without_ending_its_line_does_not_matter():
    """A title for the terminal, say."""
    script = f"""printf '\\033]0;db1\\007'; echo '{launch.GREETING}{{"pid": 1}}'"""
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with subprocess.Popen(["sh", "-c", script], **pipes) as client:
        assert launch._ask(client, b"") == ([], {"pid": 1})
