"""Which design compares two sides, and whether a host has memory for it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ndblab.comparing import choice, knobs, sides
from ndblab.comparing.knobs import Knob
from ndblab.design.contrast import ALTERNATION, RESTARTS, STARTS, SWITCHED, TWINS
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.planning import deployment
from ndblab.planning.data_node import GIB
from ndblab.planning.shape import Shape


@pytest.mark.parametrize(
    ("words", "design"),
    [
        (["ndb_batch_size=64K"], ALTERNATION),
        (["servers=1", "servers=2"], TWINS),
        (["servers=2"], TWINS),
        (["data_nodes=25%"], ALTERNATION),
        (["READ_BACKUP=0"], ALTERNATION),
        (["ndb_read_backup=0"], TWINS),
        (["ndb_cluster_connection_pool=4"], RESTARTS),
        (["performance_schema=on", "performance_schema=off", "clients=4", "clients=8"], RESTARTS),
        (["performance_schema=on", "ndb_batch_size=64K"], RESTARTS),
        (["performance_schema=on", "READ_BACKUP=0"], TWINS),
        (["log_bin=on"], TWINS),
        (
            ["performance_schema=on", "performance_schema=off", "log_bin=on", "ndb_log_bin=on"],
            TWINS,
        ),
        (["servers=1", "servers=2", "log_bin=on", "ndb_log_bin=on"], TWINS),
        (["performance_schema=on", "performance_schema=off", "servers=2"], TWINS),
        (["SpinMethod=CostBasedSpinning"], TWINS),
        (["engine=8.0.33"], TWINS),
    ],
)
def test_the_way_of_change_decides(words: list[str], design: str) -> None:
    """What can change under load is compared in one cluster, all else in separate clusters."""
    assert choice.choose(sides.parse(words)).design == design


def test_the_dearest_of_several_settings_decides() -> None:
    """It is named as the reason."""
    chosen = choice.choose(sides.parse(["ndb_batch_size=64K", "SpinMethod=CostBasedSpinning"]))
    assert (chosen.design, chosen.because) == (TWINS, ("SpinMethod",))
    assert "since SpinMethod changes with a restart of data nodes" in chosen.described


OTHERS = [
    Knob("old", knobs.MY_CNF, "mysqld", "", knobs.INITIAL, knobs.UNLISTED),
    Knob("MaxNoOfTables", knobs.CONFIG_INI, "ndbd default", "", knobs.INITIAL, knobs.UNLISTED),
]
"""What the installed programs know besides the lab's table."""
_BY_START = "all data nodes are started with --initial, which deletes the data: back it up first"
_ROLLING = "the data nodes are restarted one after the other (a rolling restart)"


@pytest.mark.parametrize(
    ("words", "restarts"),
    [
        (["old=1"], "at most the MySQL servers are restarted; not in the lab's table: old"),
        (["MaxNoOfTables=500"], f"at most {_BY_START}; not in the lab's table: MaxNoOfTables"),
        (["old=1", "SpinMethod=CostBasedSpinning"], f"{_ROLLING}; not in the lab's table: old"),
    ],
)
def test_what_the_lab_does_not_know_is_not_told_as_a_fact(words, restarts) -> None:
    """It is compared by the dearest design, but nobody is told to load data anew for a variable."""
    parsed = sides.parse(words, OTHERS)
    chosen = choice.choose(parsed)
    assert chosen.design == TWINS
    assert f"since the lab does not know how {chosen.because[0]} is changed" in chosen.described
    assert choice.restarts(parsed) == restarts


def test_without_memory_for_twins_clusters_start_in_pairs() -> None:
    """The plan says why."""
    chosen = choice.choose(sides.parse(["UseShm=off"]), "they need 9 GiB of memory")
    assert chosen.design == STARTS
    assert "not twins: they need 9 GiB of memory" in chosen.described


def test_what_both_sides_have_needs_no_restart() -> None:
    """Only differences count."""
    words = ["clients=8", "clients=9", "SpinMethod=CostBasedSpinning"]
    assert choice.choose(sides.parse(words)).design == ALTERNATION


@pytest.mark.parametrize(
    ("words", "design"),
    [
        (["data_nodes=20%", "data_nodes=30%"], SWITCHED),
        (["server_cpus=10%", "server_cpus=20%"], SWITCHED),
        (["ndb_recv_thread_activation_threshold=16"], SWITCHED),
        (["ndb_batch_size=64K"], ALTERNATION),
        (["table_open_cache=10"], ALTERNATION),
        (["max_connections=500"], SWITCHED),
        (["slow_query_log=on", "long_query_time=0"], ALTERNATION),
        (["clients=1", "clients=2"], ALTERNATION),
        (
            ["data_nodes=20%", "data_nodes=30%", "ndb_batch_size=8K", "ndb_batch_size=64K"],
            ALTERNATION,
        ),
    ],
)
def test_what_acts_at_once_is_switched_under_one_load(words: list[str], design: str) -> None:
    """This excludes what waits for new sessions, for a cache to fill, or for other clients."""
    parsed = sides.parse(words)
    assert choice.choose(parsed, one_load=True).design == design
    assert choice.choose(parsed).design == ALTERNATION


@pytest.mark.parametrize(
    ("words", "design", "turns"),
    [
        (["ndb_batch_size=64K"], ALTERNATION, True),
        (["long_query_time=0", "join_buffer_size=1M"], ALTERNATION, True),
        (["READ_BACKUP=0"], ALTERNATION, True),
        (["servers=1", "servers=2"], TWINS, True),
        (["clients=4", "clients=8"], ALTERNATION, True),
        (["ndb_batch_size=64K", "READ_BACKUP=0"], ALTERNATION, True),
        (["clients=4", "clients=8", "ndb_batch_size=8K", "ndb_batch_size=64K"], ALTERNATION, True),
        (["table_open_cache=10"], ALTERNATION, False),
        (["table_open_cache=10", "ndb_batch_size=64K"], ALTERNATION, False),
        (
            ["clients=4", "clients=8", "max_connections=300", "max_connections=500"],
            ALTERNATION,
            False,
        ),
        (["clients=4", "clients=8", "max_connections=300"], ALTERNATION, True),
        (
            ["data_nodes=20%", "data_nodes=30%", "ndb_batch_size=8K", "ndb_batch_size=64K"],
            ALTERNATION,
            False,
        ),
        (["data_nodes=20%", "data_nodes=30%", "servers=1", "servers=2"], TWINS, True),
        (["data_nodes=20%", "data_nodes=30%"], SWITCHED, False),
        (["max_connections=500"], SWITCHED, False),
        (["performance_schema=on"], RESTARTS, True),
        (["performance_schema=on", "table_open_cache=10"], RESTARTS, True),
        (["SpinMethod=CostBasedSpinning"], TWINS, True),
        (["SpinMethod=CostBasedSpinning", "table_open_cache=10"], TWINS, True),
        (["engine=8.0.33"], TWINS, True),
    ],
)
def test_clients_take_turns_where_each_side_keeps_its_own(
    words: list[str], design: str, turns: bool
) -> None:
    """Not where one value governs both sides' clients: one side's would be measured as both."""
    parsed = sides.parse(words)
    chosen = choice.choose(parsed, one_load=True, turns=True)
    assert (chosen.design, chosen.turns) == (design, turns)
    assert ("a second each" in chosen.described) == turns
    assert not choice.choose(parsed, one_load=True).turns


@pytest.mark.parametrize(
    "words",
    [("log_bin=on", "ndb_log_bin=on"), ("TimeBetweenLocalCheckpoints=10",), ("RedoBuffer=64M",)],
)
def test_work_that_goes_on_after_a_query_has_a_pause_to_end(words: tuple) -> None:
    """Late work of a binary log or a checkpoint would fall into turns of the other side."""
    chosen = choice.choose(sides.parse(words), one_load=True, turns=True)
    assert (chosen.design, chosen.turns, chosen.pause_s) == (TWINS, True, 1)
    assert "a pause of a second" in chosen.described
    assert choice.choose(sides.parse(words), one_load=True).pause_s == 0


def test_clusters_that_start_one_after_the_other_cannot_take_turns() -> None:
    """The clients of the second cluster have no server yet."""
    parsed = sides.parse(["SpinMethod=CostBasedSpinning"])
    chosen = choice.choose(parsed, "they need 9 GiB of memory", one_load=True, turns=True)
    assert (chosen.design, chosen.turns) == (STARTS, False)


def test_numbers_of_servers_need_clusters_of_their_own() -> None:
    """In one, a side with fewer would pay for idle ones; only a cluster that runs has no choice."""
    parsed = sides.parse(["servers=1", "servers=2"])
    twins = choice.choose(parsed)
    assert twins.described.endswith("since idle MySQL servers would use CPU of the side with fewer")
    assert choice.choose(parsed, "they need 9 GiB of memory").design == STARTS
    running = choice.choose(parsed, startable=False)
    assert running.design == ALTERNATION
    assert running.described.endswith("since servers changes while servers run")
    more = choice.choose(sides.parse(["servers=2", "ndb_batch_size=64K"]))
    assert (more.design, more.because) == (TWINS, ("servers",))


def test_two_servers_of_a_side_take_turns_as_twins() -> None:
    """They are no pair of servers, but clusters of both sides run."""
    parsed = sides.parse(["performance_schema=on"])
    chosen = choice.choose(parsed, servers=2, turns=True)
    assert (chosen.design, chosen.turns) == (TWINS, True)


def test_smaller_effects_take_longer() -> None:
    """Twins are the most precise, pairs of starts the least."""
    for design in (ALTERNATION, TWINS, STARTS):
        needed = [choice.blocks_needed(design, effect) for effect in (0.02, 0.05, 0.1)]
        assert needed == sorted(needed, reverse=True)
    assert choice.blocks_needed(TWINS, 0.02) <= choice.blocks_needed(ALTERNATION, 0.02) < math.inf
    assert choice.blocks_needed(STARTS, 0.02) == math.inf
    assert "2 % in more than a day" in choice.times({0.02: math.inf})


PLAN = deployment.make(host.read(), Shape(1, 1000, 16, budget="shared"))


def of_gib(gib: float) -> host.Host:
    """Return this host with this much memory left."""
    bytes_ = round(gib * GIB)
    return replace(host.read(), memory_available_bytes=bytes_, memory_bytes=bytes_)


def test_a_setting_that_takes_more_memory_counts_on_both_data_nodes() -> None:
    """Less than planned does not count."""
    settings = sides.parse(["DataMemory=100G"]).b
    assert choice.needed_bytes(PLAN, ()) == PLAN.memory_bytes
    assert 199 < (choice.needed_bytes(PLAN, settings) - PLAN.memory_bytes) / GIB <= 200
    less = sides.parse(["LongMessageBuffer=1M"]).b
    assert choice.needed_bytes(PLAN, less) == PLAN.memory_bytes


def test_a_side_that_does_not_fit_is_refused_before_anything_starts() -> None:
    """Data nodes would take memory from everything else on the host."""
    with pytest.raises(LabError, match="too little memory for side B") as caught:
        choice.check_memory(of_gib(24), PLAN, sides.parse(["DataMemory=100G"]).b, "b")
    assert caught.value.found == "24.0 GiB available"
    choice.check_memory(of_gib(24), PLAN, (), "a")


def test_twins_need_room_for_both() -> None:
    """Otherwise the plan says how much is missing, and pairs of starts compare the sides."""
    settings = ((), sides.parse(["DataMemory=3G"]).b)
    alone = choice.needed_bytes(PLAN, settings[1]) / GIB
    assert choice.no_twins(of_gib(3 * alone), (PLAN, PLAN), settings, 2**60) == ""
    assert "two clusters need" in choice.no_twins(of_gib(alone), (PLAN, PLAN), settings, 2**60)
