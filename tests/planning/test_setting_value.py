"""Values in configuration files, as the programs that read the files understand them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ndblab import install
from ndblab.cluster import start_stop
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.planning import config, deployment

CAPTURED = Path(__file__).parents[1] / "captured/hosts/vm-2cpu-cgroup1"


def plan(folder: str) -> deployment.Plan:
    shape = deployment.Shape(1, 80_000, 8, places=deployment.Places(folder, folder))
    return deployment.make(host.read(CAPTURED), shape)


@pytest.mark.cluster
@pytest.mark.parametrize(
    "folder", ["plain", "C#", "a b ", "C:\\new\\s", "it's", 'said "x"', "#;'\"\\", "a\nb\tc", "Ж"]
)
def test_mysqld_reads_every_path_as_it_is(tmp_path: Path, folder: str):
    """Data folder, socket and process id lie below the cluster's folder, whatever its name."""
    mysqld = install.ensure().mysqld
    own = tmp_path / folder
    own.mkdir()
    (own / "my.cnf").write_text(config.my_cnf(plan(str(own)), "9.7.4"), encoding="utf-8")
    options = [f"--defaults-file={own / 'my.cnf'}", "--defaults-group-suffix=.1"]
    done = subprocess.run(
        [mysqld, *options, "--verbose", "--help"], capture_output=True, text=True, check=False
    )
    said = done.stdout + "\n"
    paths = {"datadir": "mysqld.1/", "socket": "mysql.1.sock", "pid-file": "mysqld.1/mysqld.pid"}
    for name, path in paths.items():
        assert f"\n{name:<60} {own}/{path}\n" in said


@pytest.mark.parametrize("folder", ["/cache/C#", "/cache/a\nb", "/" + "x" * 1000])
def test_a_folder_that_ndb_cannot_name_is_refused_before_anything_starts(folder: str):
    """Its configuration file knows neither quotes nor escapes, and # begins a comment anywhere."""
    with pytest.raises(LabError, match="NDB's configuration file cannot hold") as caught:
        start_stop.places(Path(folder))
    assert "NDBLAB_CLUSTER_DIR" in str(caught.value)
    with pytest.raises(LabError, match="NDB's configuration file cannot hold"):
        config.config_ini(plan(folder))


def test_a_folder_with_quotes_spaces_and_semicolons_is_usable():
    """What the file can hold, it holds as it is."""
    folder = '/cache/it\'s "C" ; a=b:c\\d '
    assert start_stop.places(Path(folder)).cluster_dir == folder
    assert f"\nDataDir={folder}/ndbd.2\n" in config.config_ini(plan(folder))


def test_sockets_are_elsewhere_where_the_folder_has_a_comma():
    """Commas separate the sockets on a command line of sysbench."""
    assert start_stop.places(Path("/cache/a,b")).socket_dir.startswith("/tmp/ndblab-")
