"""A network that fails: hosts that are cut off or lose their power, and a cluster that survives."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import small_runs
from ndblab import dataset
from ndblab.design import catalogue
from ndblab.design.variant import Variant
from ndblab.error import LabError
from ndblab.experiments.availability import analysis as outage
from ndblab.experiments.availability.fault import NETWORK_FAULTS
from ndblab.hosts import remote
from ndblab.hosts.namespaces import Network, program
from ndblab.machine import THIS_MACHINE, commands
from ndblab.machine.local import LOCAL
from ndblab.planning.workload import is_good

PORT = 23260
SILENCE_S = 6
SOONER = {
    "ndbd default": {
        "HeartbeatIntervalDbDb": 1000,
        "ArbitrationTimeout": 1500,
        "TimeBetweenGlobalCheckpoints": 100,
        "TimeBetweenEpochs": 50,
    }
}
"""A node is declared dead after 5 s instead of 25 s, and starts in half the time.

About 4 s after that, MySQL servers may connect to it again. If it was cut off and still waits for
the arbitrator (ArbitrationTimeout, 7.5 s by default), it then answers reads from its old rows: in
one of six runs with that default, in none of six with 1.5 s (NDB 9.7.4)."""
CUT_S, GAP_S = 16, 8
"""How long a link is cut, and the longest gap that clients may see, in seconds."""


def pings(network: Network, sender: str, receiver: str) -> bool:
    """Whether a packet and its answer arrive between two hosts."""
    address = network.hosts[receiver].address
    probe = "import socket, sys; socket.create_connection((sys.argv[1], 22), 1)"
    argv = [LOCAL.python, "-c", probe, address]
    try:
        network.hosts[sender].run(*map(str, argv))
    except commands.ChildFailed:
        return False
    return True


@pytest.fixture
def healed(network: Network) -> Iterator[Network]:
    """The three hosts, whose links are whole again however the test ends."""
    yield network
    network.heal()


def test_what_is_dropped_is_lost_between_two_hosts_only(healed: Network):
    """In one direction no connection works either; a third host notices nothing."""
    healed.drop("b", "c")
    assert not pings(healed, "b", "c")
    assert pings(healed, "a", "c")
    healed.drop("a", "c")
    assert not pings(healed, "b", "c")
    assert not pings(healed, "a", "c")
    healed.heal()
    assert pings(healed, "b", "c")
    assert pings(healed, "a", "c")


def test_a_host_that_lost_its_power_has_its_files_and_none_of_its_processes(network: Network):
    """Whoever holds the connection holds the new one after `reconnect`."""
    folder = network.hosts["c"].folder / "powered"
    with remote.connect("c", folder) as there:
        there.put(folder / "kept", "content")
        there.spawn(["sleep", "600"], folder)
        network.power_off("c")
        there.abandon()
        with pytest.raises(LabError, match="connection to c is lost"):
            there.get(folder / "kept")
        network.power_on("c")
        there.reconnect()
        assert there.get(folder / "kept") == "content"
        assert there.marked(folder) == []
        child = there.spawn(["sh", "-c", "exit 3"], folder)
        assert child.wait(10) == 3
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.cluster
@pytest.mark.usefixtures("namespaces_usable")
@pytest.mark.parametrize("name", ["partition", "lose-host"])
def test_a_cluster_survives_a_fault_of_the_network(name: str, measure):
    """One data node goes on, the other comes back, and no acknowledged write is lost."""
    drawn = Variant(name, fault=sooner(name), config_ini=SOONER)
    experiment = dataclasses.replace(
        catalogue.find("network-faults"), variants=(Variant(config_ini=SOONER), drawn)
    )
    data = measure(experiment, size={"duration_s": 2, "clients": 4, "repeats": 1}, port=PORT)
    assert list(data.runs["status"]) == ["ok"]
    [row] = outage.of_runs(data.tables, data.manifest["profile"]["seed"]).itertuples()
    assert (row.fault, row.wrong, row.lost, row.replicas) == (name, 0, 0, 2)
    assert 1 <= row.longest_gap_s <= GAP_S
    events, texts = data.events["event"].astype(str), data.events["text"].astype(str)
    assert texts[events == "restart"].str.contains("still runs").sum() == 1
    assert texts.str.contains("declared dead").any()
    assert list(events[events.isin(["fault", "healed"])]) == ["fault", "healed"]
    assert len(data.manifest["hosts"]) == 5


def sooner(name: str):
    """Return a fault that is over sooner, since heartbeats are."""
    fault = NETWORK_FAULTS[name]
    actions = tuple(dataclasses.replace(a, at_s=min(a.at_s, CUT_S)) for a in fault.actions)
    return dataclasses.replace(fault, actions=actions)


@contextlib.contextmanager
def cut_after_a_run(network: Network, runs: Path, host: str) -> Iterator[None]:
    """Cut a host off from the lab as soon as a dataset has a run."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            if small_runs.saved(runs):
                network.drop(THIS_MACHINE, host)
                return

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.slow
@pytest.mark.cluster
def test_a_connection_that_breaks_in_the_middle_is_one_message_and_the_command_resumes(
    healed: Network, measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Completed runs are saved, and nothing is left on any of the hosts."""
    monkeypatch.setattr(remote, "SILENCE_S", SILENCE_S)
    experiment = dataclasses.replace(catalogue.find(figure=6), contrasts=None)
    hosts = tmp_path / "hosts.toml"
    hosts.write_text(
        "".join(f'[[host]]\nname = "{n}"\nfolder = "{tmp_path}/{n}"\n' for n in healed.hosts)
    )
    size = {"servers": "2", "clients": "4", "table_size": 100, "repeats": 3, "duration_s": 4}

    def measured() -> dataset.Dataset:
        return measure(experiment, "shared", PORT + 300, size=size, hosts=str(hosts))

    with (
        cut_after_a_run(healed, tmp_path / "runs", "b"),
        pytest.raises(LabError, match="connection to b is lost") as caught,
    ):
        measured()
    assert "run the same command again; completed runs are saved" in caught.value.next_step
    [folder] = (tmp_path / "runs" / experiment.name).iterdir()
    saved = dataset.read(folder).runs.set_index("run_id")
    good = saved[saved["status"].map(is_good).astype(bool)]
    assert 1 <= len(good) < 3
    deadline = time.monotonic() + 3 * SILENCE_S
    while (left := on_hosts(healed, tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert not left
    healed.heal()
    whole = measured()
    assert whole.path == folder
    runs = whole.runs.set_index("run_id")
    assert list(runs["status"].map(is_good)) == [True] * 3
    assert (runs.loc[good.index, "started_utc"] == good["started_utc"]).all()


def on_hosts(network: Network, folder: Path) -> list[str]:
    """Name the folders and the processes of a cluster that are left on the hosts."""
    left = [str(folder / name) for name in network.hosts if (folder / name).exists()]
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("NDBLAB_CLUSTER", "").startswith(f"{folder}/"):
                left.append(process.name())
    for host in network.hosts.values():
        listening = host.run(program("ss"), "-Hltn").splitlines()
        left += [line for line in listening if not line.split()[3].endswith(":22")]
    return left
