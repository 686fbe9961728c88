"""The script that replays a slow log, run by the real sysbench without a database."""

from __future__ import annotations

import os
import subprocess
from collections import defaultdict

import pytest

from ndblab import install
from ndblab.workloads.own import replay
from ndblab.workloads.own.slow_log import Entry, Sample

SAMPLE = Sample(
    {n: [Entry(n, f"SELECT {n}, '\u00e9\n', {k}", k) for k in range(n)] for n in (2, 3, 4)}, 0, 1, 1
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


@pytest.mark.cluster
@pytest.mark.parametrize(("clients", "first"), [(1, [4, 3, 2]), (2, [4, 2]), (5, [4])])
def test_a_client_sends_whole_connections_in_their_order(tmp_path, clients, first):
    """Again and again; of fewer clients each takes several connections, the longest first."""
    data = tmp_path / "statements"
    data.write_bytes(replay.packed(SAMPLE))
    script = tmp_path / "replay.lua"
    script.write_text(STUB + replay.compiled(SAMPLE, str(data), writes=True))
    binaries = install.ensure(progress=False)
    argv = [str(binaries.sysbench), str(script), f"--threads={clients}", "--events=90", "run"]
    env = {**os.environ, **binaries.sysbench_env}
    done = subprocess.run(argv, env=env, capture_output=True, text=True)
    sent = defaultdict(list)
    for line in done.stdout.splitlines():
        if line.startswith("SENT"):
            _, client, statement = line.split("\t")
            sent[client].append(statement)
    assert sum(map(len, sent.values())) == 90, done.stdout
    once = [f"SELECT {n}, '\u00e9|', {k}" for n in first for k in range(n)]
    assert sent["0"] == (once * 90)[: len(sent["0"])]
