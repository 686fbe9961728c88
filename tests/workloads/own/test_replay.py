"""The script that replays a slow log, run by the real sysbench without a database."""

from __future__ import annotations

import os
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from ndblab import install
from ndblab.workloads.own import replay
from ndblab.workloads.own.slow_log import Entry, Sample

SAMPLE = Sample(
    {n: [Entry(n, f"SELECT {n}, '\u00e9\n', {k}", k) for k in range(n)] for n in (2, 3, 4)}, 0
)
STUB = """
sysbench.sql.driver = function()
   local con = {query = function(_, sql)
                   local line = sql:gsub("\\n", "|")
                   io.write("SENT\\t" .. sysbench.tid .. "\\t" .. line .. "\\n")
                end,
                disconnect = function() end}
   return {connect = function() return con end}
end
"""


def sent_by(sample: Sample, clients: int, folder: Path) -> dict[str, list[str]]:
    """Return what each client of the real sysbench sends in 90 events."""
    data = folder / "statements"
    data.write_bytes(replay.packed(sample))
    script = folder / "replay.lua"
    script.write_text(STUB + replay.compiled(sample, str(data), writes=True))
    binaries = install.ensure(progress=False)
    argv = [str(binaries.sysbench), str(script), f"--threads={clients}", "--events=90", "run"]
    env = {**os.environ, **binaries.sysbench_env}
    done = subprocess.run(argv, env=env, capture_output=True, text=True)
    sent = defaultdict(list)
    for line in done.stdout.splitlines():
        if line.startswith("SENT"):
            _, client, statement = line.split("\t")
            sent[client].append(statement)
    assert done.returncode == 0, done.stdout
    return sent


@pytest.mark.cluster
@pytest.mark.parametrize(("clients", "first"), [(1, [4, 3, 2]), (2, [4, 2]), (5, [4])])
def test_a_client_sends_whole_connections_in_their_order(tmp_path, clients, first):
    """Again and again; of fewer clients each takes several connections, the longest first."""
    sent = sent_by(SAMPLE, clients, tmp_path)
    assert sum(map(len, sent.values())) == 90
    once = [f"SELECT {n}, '\u00e9|', {k}" for n in first for k in range(n)]
    assert sent["0"] == (once * 90)[: len(sent["0"])]


@pytest.mark.cluster
def test_a_client_changes_its_database_only_where_the_log_does(tmp_path):
    """A name may need its quotes; the end of the log may be in another one than its begin."""
    in_one = {1: [Entry(1, f"SELECT {k}", k, "my shop") for k in range(3)]}
    sent = sent_by(Sample(in_one, 0), 1, tmp_path)
    assert sent["0"][:5] == ["USE `my shop`", "SELECT 0", "SELECT 1", "SELECT 2", "SELECT 0"]
    assert sent["0"].count("USE `my shop`") == 1
    in_two = {1: [*in_one[1], Entry(1, "SELECT 3", 3, "bar")]}
    sent = sent_by(Sample(in_two, 0), 1, tmp_path)
    assert sent["0"][:7] == [
        "USE `my shop`", "SELECT 0", "SELECT 1", "SELECT 2", "USE `bar`", "SELECT 3",
        "USE `my shop`",
    ]  # fmt: skip
