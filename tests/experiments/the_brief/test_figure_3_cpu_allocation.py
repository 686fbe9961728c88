"""Figures 2 and 3: every process and every CPU of a plan is drawn, and nothing else."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from drawn import outside
from ndblab import figures
from ndblab.judging import publication
from ndblab.machine import host
from ndblab.planning import deployment

CAPTURED = Path(__file__).parents[2] / "captured/hosts/vm-2cpu-cgroup1"
BRIEF_HOST = host.load(publication.FOLDER / "host.json")


@pytest.fixture(scope="module")
def published() -> deployment.Plan:
    """The plan for the brief's own server."""
    return deployment.make(
        BRIEF_HOST, deployment.Shape(16, 80_000_000, 4096, places=deployment.Places(brief=True))
    )


@pytest.fixture(scope="module")
def small() -> tuple[deployment.Plan, host.Host]:
    """A plan for a machine of two CPUs, with bandwidth limits."""
    machine = host.read(CAPTURED)
    able = host.CpuController("cgroup1", "/sys/fs/cgroup/cpu", "the cpu hierarchy is writable")
    machine = dataclasses.replace(machine, cpu_controller=able)
    return deployment.make(machine, deployment.Shape(16, 80_000, 512)), machine


def texts(figure) -> list[str]:
    """All words of a figure, those on axes and beside them."""
    words = [text.get_text() for ax in figure.axes for text in ax.texts]
    drawn = [ax for ax in figure.axes if ax.axison]
    words += [label.get_text() for ax in drawn for label in ax.get_yticklabels()]
    return words + [text.get_text() for text in figure.texts]


def test_every_logical_cpu_is_drawn_once(published):
    """256 numbers, and each letter as often as its group has cores."""
    words = texts(figures.draw_plan("3", published, BRIEF_HOST))
    assert sorted(int(word) for word in words if word.isdigit()) == list(range(256))
    # One more of each is its key.
    assert [words.count(letter) for letter in ("D1", "D2", "So", "Se", "M")] == [17, 17, 49, 49, 9]


def test_the_management_node_is_seen_on_a_host_without_smt():
    """A core of one logical CPU has room for the letters of all that run on it."""
    cpus = tuple(host.Cpu(i, i, i // 8, i // 8) for i in range(16))
    nodes = (host.NumaNode(0, 2**34), host.NumaNode(1, 2**34))
    machine = dataclasses.replace(BRIEF_HOST, cpus=cpus, numa_nodes=nodes)
    decided = deployment.make(machine, deployment.Shape(2, 80_000, 64, budget="pinned"))
    words = texts(figures.draw_plan("3", decided, machine))
    assert words.count("M") == 1 + len(decided.management_node.share.cpus)


def test_bandwidth_is_not_drawn_as_cpus(small):
    """If no process has dedicated CPUs, the figure says so and shows limits of bandwidth."""
    decided, machine = small
    figure = figures.draw_plan("3", decided, machine)
    words = " ".join(texts(figure))
    assert "No process has dedicated CPUs" in words
    assert "D1" not in words
    bars = {round(bar.get_width(), 6) for bar in figure.axes[0].patches}
    assert {0.25, 1.5, 2 * 30 / 256} <= bars
    assert figure.axes[0].get_xlim() == (0, 2)


def test_a_host_that_is_not_divided_is_shown_so(small):
    """`shared` draws one bar for all processes, and no share."""
    decided, machine = small
    decided = dataclasses.replace(decided, budget=deployment.Budget("shared", "asked for"))
    words = figures.describe_plan("3", decided, machine)
    assert "Nothing is divided" in words
    assert "32/256" not in " ".join(texts(figures.draw_plan("3", decided, machine)))


def test_the_box_has_every_process_and_its_place(published):
    """Sixteen servers in their halves, both data nodes with published CPUs, the management node."""
    words = texts(figures.draw_plan("2", published, BRIEF_HOST))
    assert sorted(int(word) for word in words if word.isdigit()) == list(range(1, 17))
    together = " ".join(words)
    for cpus in ("0-15,128-143", "64-79,192-207", "16-63,144-191", "80-127,208-255",
                 "60-63,124-127,188-191,252-255"):  # fmt: skip
        assert f"CPUs {cpus}" in together
    assert "DataMemory 128 GiB, NumCPUs 32" in together


def test_servers_connected_by_tcp_are_named():
    """A cluster with both transporters says which servers have which."""
    shape = deployment.Shape(2, 80_000, 64, tcp_servers=1, budget="pinned")
    words = figures.describe_plan("2", deployment.make(BRIEF_HOST, shape), BRIEF_HOST)
    assert "shared memory (SHM transporters): 1 and TCP: 2" in words


@pytest.mark.parametrize("servers", [1, 2, 16, 64])
@pytest.mark.parametrize("budget", ["pinned", "shared"])
def test_any_number_of_servers_can_be_drawn(servers, budget):
    """From one server, which leaves the other half without, to more than have room for numbers."""
    decided = deployment.make(BRIEF_HOST, deployment.Shape(servers, 80_000, 64, budget=budget))
    for key in ("2", "3"):
        assert figures.draw_plan(key, decided, BRIEF_HOST).axes


@pytest.mark.parametrize("key", ["2", "3"])
def test_words_stay_on_the_sheet(small, key):
    """No text is cut off at an edge, of a small host either."""
    decided, machine = small
    assert outside(figures.draw_plan(key, decided, machine)) == []
