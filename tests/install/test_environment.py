from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from stand_ins import put_program

ROOT = Path(__file__).parents[2]


def wanted() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return {re.split(r"[<>=]", line)[0].strip() for group in groups for line in group}


def put(path: Path, body: str) -> Path:
    """Make a program of the shell."""
    return put_program(path, f"#!/bin/sh\n{body}\n")


def lab(folder: Path, **variables: str) -> subprocess.CompletedProcess:
    """Run a copy of `./lab` in `folder` with no environment of its own or of the user's."""
    shutil.copy2(ROOT / "lab", folder / "lab")
    inherited = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    return subprocess.run(
        [folder / "lab"], env=inherited | variables, capture_output=True, text=True, check=False
    )


def typed(home: Path, *words: object, cwd: Path = ROOT, **variables: str):
    """Run Python with these words, for a user with this home."""
    environment = os.environ | {"HOME": str(home)} | variables
    argv = [sys.executable, *words]
    return subprocess.run(
        argv, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-uv.lock"])
def test_everything_locked_has_hashes_and_names_no_address(name: str) -> None:
    """The locks work with whatever package index the user has, and accept no other file."""
    lock = (ROOT / name).read_text()
    entries = re.findall(r"^[a-z0-9-]+==[^\n]*", lock, re.MULTILINE)
    hashed = re.findall(r"^[a-z0-9-]+==[^\n]*\\\n    --hash=sha256:", lock, re.MULTILINE)
    assert len(entries) == len(hashed) > 0
    assert not re.search(r"https?://|--(extra-)?index-url|--find-links", lock)


def test_every_requirement_of_the_project_is_locked() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert wanted() <= set(re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE))


def test_conda_users_get_the_same_requirements() -> None:
    """environment.yml lists every package of pyproject.toml, from conda-forge or for pip."""
    listed = re.findall(r"^ +- ([a-z0-9-]+)", (ROOT / "environment.yml").read_text(), re.MULTILINE)
    assert wanted() - {name.removesuffix("-base") for name in listed} == set()


def test_a_checkout_that_cannot_be_written_gives_one_message(tmp_path: Path) -> None:
    """`./lab` in another user's checkout says what to do, not a shell's error."""
    (tmp_path / ".venv.lock").mkdir()  # closed to writing for root too
    done = lab(tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        f"lab: you cannot write to {tmp_path}; make your own clone of the repository\n"
    )


def said_by_uv(folder: Path, settings: str, variable: str, **variables: str) -> str:
    """Install by a uv that only prints a variable; return what the lab says. pip has `settings`."""
    for name in ("requirements.lock", "pyproject.toml"):
        (folder / name).touch()
    python = put(folder / "python", f"cat <<'END'\n{settings}\nEND")
    uv = put(
        folder / "bin/uv",
        f"""[ "$1" = venv ] && mkdir -p {folder}/.venv/bin &&
ln -s {python} {folder}/.venv/bin && exit
echo "got: ${variable}"
exit 1""",
    )
    return lab(folder, PATH=f"{uv.parent}:{os.environ['PATH']}", **variables).stderr


@pytest.mark.parametrize(
    ("settings", "variables", "index"),
    [
        ("global.index-url='https://all.example'", {}, "https://all.example"),
        (
            ":env:.index-url='https://own.example'\nglobal.index-url='https://all.example'",
            {},
            "https://own.example",
        ),
        ("global.index-url='https://all.example'", {"UV_DEFAULT_INDEX": "https://uv.example"},
         "https://uv.example"),
        ("global.timeout='60'", {}, ""),
    ],
)  # fmt: skip
def test_uv_installs_from_the_index_that_pip_is_configured_for(
    tmp_path: Path, settings: str, variables: dict[str, str], index: str
) -> None:
    """pip's environment precedes its configuration file, and uv's own setting precedes both."""
    assert f"got: {index}\n" in said_by_uv(tmp_path, settings, "UV_DEFAULT_INDEX", **variables)


def test_uv_gets_the_proxy_that_pip_has(tmp_path: Path) -> None:
    """uv does not read pip's settings."""
    settings, none = "global.proxy='http://p:3128'", {"ALL_PROXY": "", "all_proxy": ""}
    assert "got: http://p:3128\n" in said_by_uv(tmp_path, settings, "ALL_PROXY", **none)


def test_a_python_that_makes_no_environments_costs_an_ordinary_user_one_line(tmp_path: Path):
    """The line has the packages of the build too, which a fresh Debian lacks as well."""
    for name in ("requirements.lock", "pyproject.toml", "lib"):
        (tmp_path / name).symlink_to(ROOT / name)
    programs = {
        "python3.13": f'case "$*" in *ensurepip*) exit 1 ;; esac\nexec {sys.executable} "$@"',
        "id": "echo 1000",
        "dpkg-query": "echo bison installed; exit 1",
    }
    bin_ = tmp_path / "bin"
    for name, body in programs.items():
        put(bin_ / name, body)
    done = lab(tmp_path, PATH=f"{bin_}:/usr/bin:/bin")
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    assert done.returncode == 1
    assert f"Type:  sudo apt-get install -y {package} g++ cmake ninja-build pkgconf" in done.stderr


SETTINGS = """install.user='true'
install.target='/nowhere'
global.index-url='https://all.example'
global.cert='/a/certificate'
:env:.index-url='https://own.example'"""


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A checkout where Python makes an environment whose pip says how it is called, and fails."""
    for name in ("requirements.lock", "requirements-uv.lock", "pyproject.toml"):
        (tmp_path / name).touch()
    put(
        tmp_path / "bin/python3.13",
        f"""case "$*" in
    "-m venv "*) mkdir -p "$3/bin" && ln -s "$0" "$3/bin/python" ;;
    *"config list") echo "{SETTINGS}" ;;
    *" install "*) env | grep -E "^(PIP|XDG_C|PYTHON(PATH|HOME|NO))" | LC_ALL=C sort; exit 1 ;;
esac""",
    )
    return tmp_path


def test_pip_keeps_the_settings_of_the_network_and_no_others(fresh: Path) -> None:
    """Where the user's other packages go, and what they are, is not for the lab's environment."""
    done = lab(
        fresh, PATH=f"{fresh}/bin:/usr/bin:/bin", PIP_USER="1", PIP_TARGET="/x",
        PIP_INDEX_URL="https://own.example", PYTHONPATH="/elsewhere", PYTHONHOME="/elsewhere",
        XDG_CACHE_HOME=str(fresh / "cache"),
    )  # fmt: skip
    kept = [line.strip() for line in done.stderr.splitlines() if line.startswith("    ")]
    assert kept == [
        "PIP_CERT=/a/certificate", "PIP_CONFIG_FILE=/dev/null",
        "PIP_INDEX_URL=https://own.example", "PYTHONNOUSERSITE=1", f"XDG_CACHE_HOME={fresh}/cache",
    ] * 2  # fmt: skip


@pytest.mark.parametrize("home", [{"HOME": "/dev/null"}, {"HOME": ""}])
def test_without_a_home_downloads_are_cached_in_the_environment(
    fresh: Path, home: dict[str, str]
) -> None:
    """A user id without a home, as in a container, has no other place."""
    done = lab(fresh, PATH=f"{fresh}/bin:/usr/bin:/bin", XDG_CACHE_HOME="", **home)
    assert f"XDG_CACHE_HOME={fresh}/.venv/cache" in done.stderr


def test_the_users_settings_of_invoke_are_for_other_projects(tmp_path: Path) -> None:
    """Neither its file nor its variables rename the lab's tasks, or keep them from running."""
    (tmp_path / ".invoke.yaml").write_text("tasks:\n  collection_name: x\nrun:\n  dry: true\n")
    words = ROOT / "tasks.py", "--search-root", ROOT, "--list"
    done = typed(tmp_path, *words, INVOKE_TASKS_COLLECTION_NAME="y")
    assert "cluster.start" in done.stdout, done.stderr


SETTINGS_OF_OTHERS = {
    "dry": "run:\n  dry: true\n  pty: true\n",
    "executor": "tasks:\n  executor_class: nowhere.Executor\n",
    "dashes": "tasks:\n  auto_dash_names: false\n",
}


@pytest.mark.parametrize("settings", SETTINGS_OF_OTHERS)
def test_plain_invoke_does_what_the_lab_does_whatever_its_user_has_set(
    tmp_path: Path, settings: str
) -> None:
    """As in a conda environment, from any folder of the project."""
    (tmp_path / ".invoke.yaml").write_text(SETTINGS_OF_OTHERS[settings])
    for program in (["-m", "invoke"], [Path(sys.executable).with_name("invoke")]):
        words = "config", "--host", "brief", "--out", tmp_path
        done = typed(tmp_path, *program, *words, cwd=ROOT / "lib")
        assert done.returncode == 0, done.stderr
        assert "config.ini" in done.stdout
        failing = typed(tmp_path, *program, "reproduce", "--figure", "66", "--dry-run")
        assert (failing.returncode, "Unknown figure" in failing.stderr) == (1, True)


def test_a_clone_with_the_line_ends_of_windows_runs(tmp_path: Path) -> None:
    """Git converts nothing, whatever the user's setting is."""
    if not (ROOT / ".git").exists():
        pytest.skip("no clone")
    clone = tmp_path / "clone"
    git = ["git", "-c", "core.autocrlf=true", "-c", f"safe.directory={ROOT}"]
    subprocess.run([*git, "clone", "-q", "--shared", ROOT, clone], check=True)
    named = subprocess.run(
        ["git", "ls-files", "-z"], cwd=clone, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    kinds = (".sh", ".py", ".csv", ".json", ".asc", ".lock", ".lua", ".sql", "/lab")
    texts = [clone / name for name in named if f"/{name}".endswith(kinds)]
    assert len(texts) > 500
    assert [str(text) for text in texts if b"\r\n" in text.read_bytes()] == []
