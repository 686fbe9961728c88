"""What `./lab` says of itself: its commands in groups, their options, and its experiments."""

from __future__ import annotations

from collections.abc import Mapping

from ndblab.design import catalogue, time_needed
from ndblab.design.experiment import Experiment
from ndblab.formatting import duration
from ndblab.measuring import recorded

FIRST = (
    ("reproduce --all --recorded", "look: every figure and verdict from recorded data; 2 min"),
    ("reproduce --figure 6", "measure: run a cluster, measure, draw, judge; 10 min"),
    ("compare performance_schema=on", "ask: is it faster or slower with this setting? 15 min"),
)
"""What to type first, and why."""

GROUPS: Mapping[str, tuple[tuple[str, str, str, str], ...]] = {
    "Look, without a cluster": (
        ("reproduce --recorded", "redraw and judge what was recorded", "", "--figure 6 --recorded"),
        ("experiments", "list what can be measured, and how long it takes", "", ""),
        ("claims", "judge every published claim, or explain one", "", "F6-peak"),
        ("report", "write a website of all results", "", ""),
        ("notebook", "open the notebooks in JupyterLab", "", ""),
    ),
    "Measure": (
        ("reproduce", "measure an experiment on this host", "10 min", "--figure 6"),
        ("reproduce --dry-run", "show every command, and run none", "", "--figure 6 --dry-run"),
        ("doctor", "show what this host lacks, and what to type", "", ""),
        ("install", "install NDB Cluster and sysbench, once", "5 min", "--tools"),
        ("config", "print config.ini and my.cnf for a host", "", "--host brief"),
    ),
    "Ask your own": (
        ("compare", "say which of two configurations is faster", "3-15 min", "servers=1 servers=2"),
        ("watch", "compare the present state with a baseline", "15 min", "--baseline nightly"),
        ("tune", "search for the best configuration of this host", "60 min", "--minutes 60"),
        ("new", "write an experiment that works at once", "", "mine"),
        ("predict", "predict many servers from a sweep of one", "", "--servers 8 --clients 64"),
        ("size", "recommend servers, clients and CPU split", "", ""),
    ),
    "Run a cluster": (
        ("cluster.start", "start a cluster that runs until cluster.stop", "", "--servers 2"),
        ("cluster.status", "show its processes", "", ""),
        ("cluster.stop", "stop it and clean up, even after a SIGKILL", "", ""),
        ("cluster.detach", "remove what a killed --attach left behind", "", "--attach mgm1:1186"),
    ),
    "The lab itself": (
        ("test", "run its tests; --slow: only others, 24 min", "9 min", ""),
        ("bench", "measure it against its goals", "", "--only large"),
        ("faults", "inject faults into it and its cluster", "", "--count 20"),
        ("render", "render notebooks and README from recorded data", "", ""),
    ),
}
"""Commands by group: name, what it does, minutes where it takes some, options of an example."""

_DATASET = "Folder of the dataset to use"
_FROM = "Folder of a dataset with runs of one server (default: the recorded sweep)"
_HOST_CPUS = "Logical CPUs of another host (default: those of the dataset's host)"
_SPEED = "Queries/s that one MySQL server reaches on that other host (default: as measured)"
_LOAD = {
    "workload": "Name, file (.sql, .lua, slow log) or 'program {socket} {seconds}' "
    "(default: oltp_point_select)",
    "schema": "Dump with the tables of your workload (default: sysbench's tables)",
    "writes": "With a slow log: also replay statements that change data",
    "profile": "smoke, quick or brief: sizes of tables and slices (default: quick)",
    "tables": "Number of tables (default: the profile's)",
    "table_size": "Rows of each table (default: the profile's)",
    "base_port": "First port of the cluster (default: 11860)",
    "json": "Print the answer as JSON",
}
"""Options that compare and tune share."""
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "reproduce": {
        "figure": "Number or name of a figure; selects its experiment (default: none)",
        "table": "Number of a table of the brief; selects its experiment (default: none)",
        "experiment": "Name (`./lab experiments`), or folder of one of your own (default: none)",
        "all": "All experiments that these options allow; those measured here already are skipped",
        "profile": "smoke, quick or brief: how long and how wide (default: quick)",
        "budget": "pinned, scaled, shared or auto: how CPUs are divided (default: auto)",
        "recorded": "Use the dataset that comes with the lab; measure nothing",
        "dataset": "Folder of a dataset to read, or latest (default: measure anew)",
        "servers": "Numbers of MySQL servers, such as 1,2,4 (default: the profile's)",
        "clients": "Numbers of clients, such as 1,8,64 (default: the profile's)",
        "repeats": "Runs of each point (default: the profile's)",
        "duration": "Seconds of a run (default: the profile's)",
        "warmup": "Seconds before a run that do not count (default: the profile's)",
        "tables": "Number of tables (default: the profile's)",
        "table_size": "Rows of each table (default: the profile's)",
        "seed": "Seed of the order of runs (default: the profile's)",
        "base_port": "First port of the cluster (default: 11860)",
        "again": "With --all: repeat what this host has measured already",
        "minutes": "End after so many minutes, even if claims are open (default: the plan's)",
        "dry_run": "Print the plan and every command; run none",
        "host": "Dry run for another host: a file of `doctor --json`, or brief (default: this one)",
        "engines": "Two installations: folders, tarballs or releases, A,B (default: none)",
        "hosts": "user@a,user@b by ssh, a TOML file, or namespaces (default: this host)",
        "insecure_network": "With --hosts: leave NDB's own links plain text",
        "attach": "Connect string of a running cluster, never changed (default: start one)",
        "endpoints": "With --attach: its MySQL servers, SOCKET or HOST:PORT,... (no default)",
    },
    "compare": {
        "side": "A setting, folder or file; plain words count as sides (no default)",
        **_LOAD,
        "servers": "MySQL servers of both sides (default: 1)",
        "clients": "Clients of both sides (default: 8 for each CPU)",
        "minutes": "End after so many minutes, even if undecided (default: 15)",
        "within": "Percent from equal that count as equivalent (default: 2)",
        "seed": "Seed of the order of slices (default: the profile's)",
        "again": "Measure anew, even if this comparison is complete",
        "dry_run": "Print the plan and every command; run none",
        "attach": "Connect string of a running cluster; only what needs no restart (default: none)",
        "endpoints": "With --attach: its MySQL servers, SOCKET or HOST:PORT,... (no default)",
        "may_change": "With --attach: set variables (put back), run loads that write (not undone)",
    },
    "watch": {
        "side": "A setting, folder or file of the present state (default: as in the baseline)",
        "save": "Name or folder of a baseline to store (this or --baseline)",
        "baseline": "Name or folder of the baseline to compare with (this or --save)",
        "workload": "With --save: as for compare",
        "schema": "With --save: as for compare",
        "writes": "With --save: as for compare",
        "servers": "With --save: MySQL servers of both sides (default: 1)",
        "clients": "With --save: clients of both sides (default: 8 for each CPU)",
        "minutes": "End after so many minutes, even if undecided (default: 15)",
        "within": "With --save: percent from equal that count as equivalent (default: 2)",
        "profile": "With --save: smoke, quick or brief (default: quick)",
        "tables": "With --save: number of tables (default: the profile's)",
        "table_size": "With --save: rows of each table (default: the profile's)",
        "seed": "With --save: seed of the order of slices (default: the profile's)",
        "base_port": "First port of the cluster (default: 11860)",
        "json": "With --baseline: print the answer as JSON",
    },
    "tune": {
        "side": "Your settings, folder or file; plain words count as sides (default: the lab's)",
        "minutes": "Minutes of the search, all sittings together (default: 60)",
        "knobs": "CSV that adds, replaces or removes knobs, see docs/tune.md (default: the lab's)",
        "goal": "throughput, p95 or cpu, which is CPU time per query (default: throughput)",
        "keep": 'What every configuration must keep, such as "p95 < 20 ms" (default: nothing)',
        **_LOAD,
        "clients": "Clients of the load (default: 8 for each CPU)",
        "seed": "Seed of the search's random choices (default: the profile's)",
        "again": "Search anew, even if this search is complete",
        "dry_run": "Print what would be tried, and how; run nothing",
        "host": "Dry run for another host: a file of `doctor --json`, or brief (default: this one)",
    },
    "install": {
        "tarball": "Path or address of an NDB Cluster tarball (default: none)",
        "sha256": "Checksum of that tarball (default: not checked)",
        "tools": "Also build go-tpc (for TPC-C), and NDB's tools that an older installation lacks",
        "release": "Release of the vendor's tarball, or newest (default: Debian's packages)",
    },
    "doctor": {"json": "Print a description of this host, for --host elsewhere"},
    "config": {
        "host": "A host's description, or brief (default: this host)",
        "out": "Folder to write the files to (default: print them)",
        "profile": "smoke, quick or brief (default: quick)",
        "budget": "pinned, scaled, shared or auto (default: auto)",
        "servers": "Number of MySQL servers (default: the profile's)",
    },
    "claims": {
        "id": "Ids to explain, separated by commas; plain words count as ids (default: list all)",
        "dataset": f"{_DATASET} (default: all recorded ones)",
        "csv": "Print CSV",
    },
    "predict": {
        "servers": "Number of MySQL servers (no default)",
        "clients": "Number of clients (no default)",
        "cpus": _HOST_CPUS,
        "qps_one_server": _SPEED,
        "from_": _FROM,
    },
    "size": {"cpus": _HOST_CPUS, "qps_one_server": _SPEED, "from_": _FROM},
    "render": {"experiment": "Name of one experiment (default: all)"},
    "report": {"out": "Folder of the website (default: out/report)"},
    "new": {"folder": "Folder to write, which must not exist (no default)"},
    "test": {
        "only": "Only tests whose name has this word (default: all)",
        "slow": "The second tier: whole experiments, kills, several hosts, a browser",
        "cluster": "Run also what needs a cluster (default: yes)",
        "virtual_machine": "Only the tests that boot a virtual machine; an hour or more",
        "experiment": "Only check an experiment of yours against the rules for all (default: none)",
    },
    "cluster.start": {
        "servers": "Number of MySQL servers (default: 2)",
        "budget": "pinned, scaled, shared or auto: how CPUs are divided (default: auto)",
        "base_port": "First port of the cluster (default: 11860)",
    },
    "cluster.detach": {
        "attach": "Connect string that the killed command had (no default)",
        "endpoints": "MySQL servers that it had, SOCKET or HOST:PORT,... (no default)",
    },
    "faults": {
        "count": "Number of faults (default: 200)",
        "seed": "Seed of the random choices (default: 1)",
        "first": "Number of the first fault (default: the first that is not done)",
        "kind": "Only faults of this kind (default: all)",
        "at_once": "Faults at a time, each in a lab of its own (default: 1)",
    },
    "bench": {
        "only": "Name of one benchmark (default: all)",
        "real": "With compare: comparisons of each kind on a cluster (default: none)",
    },
}
"""The help of each option, by command."""


def overview() -> str:
    """Return what to type first, then the commands in groups, each with an example."""
    lines = ["The scale-up lab for MySQL NDB Cluster. To begin with, type one of these:", ""]
    lines += [f"  ./lab {words:<31} {why}" for words, why in FIRST]
    lines += ["", "`./lab --help COMMAND` shows examples, then every option with its default.", ""]
    for group, commands in GROUPS.items():
        lines.append(group)
        for name, words, minutes, options in commands:
            example = f"./lab {name.partition(' ')[0]} {options}".rstrip()
            lines.append(f"  {name:<20} {words:<48} {minutes:<8} {example}".rstrip())
        lines.append("")
    return "\n".join(lines).rstrip()


def experiments() -> str:
    """Return a line for each experiment with its figures and minutes, and one with its question."""
    lines = []
    for experiment in catalogue.every().values():
        figures = ", ".join(experiment.figures) or "none"
        lines.append(f"{experiment.name:<24} {_takes(experiment):<12} figures: {figures}")
        lines.append(f"    {experiment.question}{_needs(experiment)}")
    lines += ["", "Measure one: ./lab reproduce --experiment NAME; with --recorded, look at it."]
    return "\n".join(lines)


def _takes(experiment: Experiment) -> str:
    """Return how long the quick profile takes at most, in words."""
    if experiment.grid is None:
        return "no cluster"
    size = experiment.size("quick")
    own_s = time_needed.own_s(experiment, size)
    sweep_s = time_needed.sweep_s(experiment, size)
    limit_s = time_needed.limit_s(sweep_s, size, own_s) if experiment.contrasts else sweep_s
    return duration(limit_s)


def _needs(experiment: Experiment) -> str:
    needs = ["two installations (--engines A,B)"] if experiment.compares_engines else []
    needs += [f"{len(experiment.hosts)} hosts (--hosts), or root"] if experiment.hosts else []
    needs += [] if recorded.has(experiment) or not experiment.grid else ["not recorded yet"]
    return f" [{'; '.join(needs)}]" if needs else ""
