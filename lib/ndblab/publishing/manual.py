"""What `./lab` says of itself: its commands in groups, their options, and its experiments."""

from __future__ import annotations

from collections.abc import Mapping

from ndblab.design import catalogue, time_needed
from ndblab.design.experiment import Experiment
from ndblab.formatting import duration
from ndblab.measuring import recorded

GROUPS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "Look, without a cluster": (
        ("reproduce --recorded", "redraw and judge what was recorded", "--figure 6 --recorded"),
        ("experiments", "list what can be measured, and how long it takes", ""),
        ("claims", "judge every published claim, or explain one", "F6-peak"),
        ("report", "write a website of all results", ""),
        ("notebook", "open the notebooks in JupyterLab", ""),
    ),
    "Measure": (
        ("reproduce", "measure an experiment on this host", "--figure 6"),
        ("reproduce --dry-run", "show every command, and run none", "--figure 6 --dry-run"),
        ("doctor", "show what this host lacks, and what to type", ""),
        ("install", "install NDB Cluster and sysbench", "--tools"),
        ("config", "print config.ini and my.cnf for a host", "--host brief"),
    ),
    "Ask your own": (
        ("compare", "say which of two configurations is faster", "ndb_batch_size=64K"),
        ("watch", "compare what is now with a stored baseline", "--baseline nightly"),
        ("tune", "search for the best configuration of this host", "--minutes 60"),
        ("new", "write an experiment of your own that works at once", "mine"),
        ("predict", "predict many MySQL servers from a sweep of one", "--servers 8 --clients 64"),
        ("size", "recommend servers, clients and CPU split", ""),
    ),
    "Run a cluster": (
        ("cluster.start", "start a cluster that runs until cluster.stop", "--servers 2"),
        ("cluster.status", "show its processes", ""),
        ("cluster.stop", "stop it and clean up, even after a SIGKILL", ""),
        ("cluster.detach", "remove what a killed --attach left on a cluster", ""),
    ),
    "The lab itself": (
        ("test", "run its tests (10 min; --slow: 25 min)", ""),
        ("bench", "measure it, beside its goals", "--only read"),
        ("faults", "inject faults into it and its cluster", "--count 20"),
        ("render", "render notebooks and README from recorded data", ""),
    ),
}
"""Commands by group: name, what it does, and the options of an example."""

_DATASET = "Folder of the dataset to use"
_FROM = "Folder of a dataset with runs of one server (default: the recorded sweep)"
_HOST_CPUS = "Logical CPUs of another host (default: those of the dataset's host)"
_SPEED = "Queries/s that one MySQL server reaches on that other host"
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "reproduce": {
        "figure": "Number or name of a figure; selects its experiment",
        "table": "Number of a table of the brief; selects its experiment",
        "experiment": "Name of an experiment, or the folder of one of your own",
        "all": "All experiments that are possible so; those measured here already are skipped",
        "profile": "smoke, quick or brief: how long and how wide (default: quick)",
        "budget": "pinned, scaled, shared or auto: how CPUs are divided (default: auto)",
        "recorded": "Use the dataset that comes with the lab; measure nothing",
        "dataset": "Folder of the dataset to use; with --all --recorded, for its experiment",
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
        "minutes": "End after so many minutes, though claims are open",
        "dry_run": "Print the plan and every command; run none",
        "host": "Dry run for another host: its description from `doctor --json`, or brief",
        "engines": "Two installations to compare: folders, tarballs or releases, A,B",
        "hosts": "Hosts reached by ssh (user@a,user@b or a TOML file), or namespaces",
        "insecure_network": "With --hosts: leave NDB's own links plain text",
        "attach": "Connect string of a cluster that runs already; never changed",
        "endpoints": "With --attach: its MySQL servers, SOCKET or HOST:PORT,...",
    },
    "compare": {
        "side": "A setting, folder or file; plain words are sides",
        "workload": "Name, file (.sql, .lua, slow log) or 'program {socket} {seconds}'",
        "schema": "Dump with the tables of a workload of your own",
        "writes": "Of a slow log, replay also what changes data",
        "servers": "MySQL servers of both sides (default: 1)",
        "clients": "Clients of both sides (default: 8 for each CPU)",
        "minutes": "End after so many minutes, though undecided (default: 15)",
        "within": "Per cent from equal that count as equivalent (default: 2)",
        "profile": "smoke, quick or brief: sizes of tables and slices (default: quick)",
        "tables": "Number of tables (default: the profile's)",
        "table_size": "Rows of each table (default: the profile's)",
        "seed": "Seed of the order of slices (default: the profile's)",
        "base_port": "First port of the cluster (default: 11860)",
        "again": "Measure anew what is complete",
        "json": "Print the answer as JSON",
        "dry_run": "Print the plan and every command; run none",
        "attach": "Connect string of a cluster that runs already; compares what needs no restart",
        "endpoints": "With --attach: its MySQL servers, SOCKET or HOST:PORT,...",
        "may_change": "With --attach: set global variables there, and put them back",
    },
    "watch": {
        "side": "A setting, folder or file of what is now (default: as in the baseline)",
        "save": "Name or folder of a baseline to store",
        "baseline": "Name or folder of the baseline to compare with",
        "workload": "With --save: as for compare",
        "schema": "With --save: as for compare",
        "writes": "With --save: as for compare",
        "servers": "With --save: MySQL servers of both sides (default: 1)",
        "clients": "With --save: clients of both sides (default: 8 for each CPU)",
        "minutes": "End after so many minutes, though undecided (default: 15)",
        "within": "With --save: per cent from equal that count as equivalent (default: 2)",
        "profile": "With --save: smoke, quick or brief (default: quick)",
        "tables": "With --save: number of tables (default: the profile's)",
        "table_size": "With --save: rows of each table (default: the profile's)",
        "seed": "With --save: seed of the order of slices (default: the profile's)",
        "base_port": "First port of the cluster (default: 11860)",
    },
    "tune": {
        "side": "Your configuration: settings, a folder or a file; plain words are it",
        "minutes": "Of the search, in all its sittings together (default: 60)",
        "knobs": "CSV that adds, replaces or removes knobs (docs/tune.md)",
        "goal": "throughput, p95 or cpu (CPU time of a query) (default: throughput)",
        "keep": 'What every configuration must keep, such as "p95 < 20 ms"',
        "workload": "Name, file (.sql, .lua, slow log) or 'program {socket} {seconds}'",
        "schema": "Dump with the tables of a workload of your own",
        "writes": "Of a slow log, replay also what changes data",
        "clients": "Clients of the load (default: 8 for each CPU)",
        "profile": "smoke, quick or brief: sizes of tables and slices (default: quick)",
        "tables": "Number of tables (default: the profile's)",
        "table_size": "Rows of each table (default: the profile's)",
        "seed": "Seed of what is drawn (default: the profile's)",
        "base_port": "First port of the cluster (default: 11860)",
        "again": "Search anew, where this search is complete",
        "json": "Print the answer as JSON",
        "dry_run": "Print what would be tried, and how; run nothing",
        "host": "Dry run for another host: its description from `doctor --json`, or brief",
    },
    "install": {
        "tarball": "Path or address of an NDB Cluster tarball",
        "sha256": "Checksum of that tarball",
        "tools": "Also what only some experiments take: ndb_import, flexAsynch, go-tpc",
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
        "id": "Ids of claims to explain, separated by commas",
        "dataset": f"{_DATASET} (default: all recorded ones)",
        "csv": "Print CSV",
    },
    "predict": {
        "servers": "Number of MySQL servers",
        "clients": "Number of clients",
        "cpus": _HOST_CPUS,
        "qps_one_server": _SPEED,
        "from_": _FROM,
    },
    "size": {"cpus": _HOST_CPUS, "qps_one_server": _SPEED, "from_": _FROM},
    "render": {"experiment": "Name of one experiment (default: all)"},
    "report": {"out": "Folder of the website (default: out/report)"},
    "new": {"folder": "Folder to write, which must not exist"},
    "test": {
        "only": "Only tests whose name has this word",
        "slow": "The second tier: whole experiments, kills, several hosts, a browser",
        "cluster": "Run also what needs a cluster",
        "virtual_machine": "Only those that boot a virtual machine; an hour or more",
        "experiment": "Hold an experiment of your own against what all keep",
    },
    "bench": {
        "only": "Name of one benchmark (default: all)",
        "real": "Of compare: so many planted, equal and twin comparisons on a cluster",
        "minutes": "Of compare --real: minutes of a comparison at most (default: 3)",
    },
}
"""The help of each option, by command."""


def overview() -> str:
    """Return the commands in groups, each with an example."""
    lines = ["The scale-up lab for MySQL NDB Cluster. `./lab --help COMMAND` explains one.", ""]
    for group, commands in GROUPS.items():
        lines.append(group)
        for name, words, options in commands:
            example = f"./lab {name.partition(' ')[0]} {options}".rstrip()
            lines.append(f"  {name:<21} {words:<51} {example}".rstrip())
        lines.append("")
    return "\n".join(lines).rstrip()


def experiments() -> str:
    """Return a line for each experiment with its figures and minutes, and one with its question."""
    every = [*catalogue.every().values(), *catalogue.unrecorded().values()]
    lines = []
    for experiment in every:
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
