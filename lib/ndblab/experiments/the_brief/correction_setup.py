"""The arithmetic of corrections on machine, configuration and commands.

What a source says comes from the row itself; what contradicts it from the tables, the claims and
the plan for the brief's server. Nothing of it was measured here.

To add one: write a function (correction, facts) -> (holds, line), and decorate it.
"""

from __future__ import annotations

import re

from ndblab.experiments.the_brief.correction_facts import Facts, Shown, numbers, percent, shows
from ndblab.formatting import significant
from ndblab.judging.publication import Correction
from ndblab.planning.data_node import GIB
from ndblab.planning.node import API_NODE_IDS

TIB = 1024 * GIB
# A sysbench row: two integers, 120 and 60 characters of up to 4 bytes (oltp_common.lua; utf8mb4).
ROW_BYTES_MOST = 4 + 4 + (120 + 60) * 4


@shows("rows-per-table")
def _rows_per_table(row: Correction, facts: Facts) -> Shown:
    [command] = numbers(row.says)
    tables, millions, gigabytes = numbers(row.but)[:3]
    by_command, by_text = (gigabytes * 1e9 / (tables * n) for n in (command, millions * 1e6))
    return by_command > 2 * ROW_BYTES_MOST > by_text, (
        f"{gigabytes:g} GB / ({tables:g} x {significant(command)}) = {significant(by_command)} "
        f"bytes per row, with {significant(millions * 1e6)} rows {by_text:.0f}; a sysbench row has "
        f"{ROW_BYTES_MOST}"
    )


@shows("smt")
def _smt(row: Correction, facts: Facts) -> Shown:
    cores = int(facts.number("sockets") * facts.number("cores per socket"))
    used = max(max(node.share.cpus) for node in facts.brief_plan.nodes)
    first, last, threads, reserved = numbers(row.but)
    return first == cores and last == used and threads == 2 * reserved, (
        f"without SMT {cores} cores are CPUs 0 to {cores - 1}, numactl names up to {used}; "
        f"{reserved:g} x 2 = {threads:g} threads"
    )


@shows("numa")
def _numa(row: Correction, facts: Facts) -> Shown:
    per_socket, nodes = numbers(row.says)[0], len(facts.brief_host.numa_nodes)
    sockets = int(facts.number("sockets"))
    modules, size = numbers(facts.table["memory"])[:2]
    there, would_be = facts.brief_host.numa_nodes[0].memory_bytes / GIB, per_socket * sockets
    return nodes == sockets != would_be and there > modules * size / would_be, (
        f"{per_socket:g} x {sockets} sockets would be {would_be:g} nodes of "
        f"{modules * size / would_be:g} GB; Figure 3 has {nodes}, of {there:.0f} GB each"
    )


@shows("threads-98")
def _threads_98(row: Correction, facts: Facts) -> Shown:
    cores, threads = numbers(row.says)
    cpus = facts.low("F4-cpu-32") / 100
    return threads != 2 * cores, (
        f"{cores:g} cores x 2 threads = {2 * cores:g}, not {threads:g}; {2 * cores:g} / {cpus:g} = "
        f"{2 * cores / cpus:.1f}, {threads:g} / {cpus:g} = {threads / cpus:.1f}"
    )


@shows("rule-over")
def _rule_over(row: Correction, facts: Facts) -> Shown:
    servers, cpus = facts.low("S-rule"), facts.low("F4-cpu-32") / 100
    socket = len(facts.brief_plan.servers[0].share.cpus)
    return servers * cpus > socket, (
        f"{servers:g} x {cpus:g} = {servers * cpus:g} > {socket} a socket; 8 servers in all use "
        f"{8 * cpus:g} of {2 * socket}, so 16 have {2 * socket / (8 * cpus):.1f} times that"
    )


@shows("l3")
def _l3(row: Correction, facts: Facts) -> Shown:
    [per_core] = re.findall(r"(\d+)MB", row.says)
    cache, cores = facts.number("l3 cache per socket"), facts.number("cores per socket")
    return float(per_core) * cores != cache, (
        f"{per_core} MB x {cores:g} cores = {float(per_core) * cores:g} MB, not {cache:g}; "
        f"{cache:g} / {cores:g} = {cache / cores:g} MB per core"
    )


@shows("cache-fit")
def _cache_fit(row: Correction, facts: Facts) -> Shown:
    data_gb = numbers(row.but)[0]
    cache_mb = facts.number("sockets") * facts.number("l3 cache per socket")
    times = data_gb * 1000 / cache_mb
    return times > 100, f"{data_gb:g} GB / (2 x {cache_mb / 2:g} MB) = {times:.0f}"


@shows("cores-32")
def _cores_32(row: Correction, facts: Facts) -> Shown:
    cpus = set(facts.brief_plan.data_nodes[0].share.cpus)
    cores = sum(1 for core in facts.brief_host.cores if cpus & {cpu.id for cpu in core})
    [said] = re.findall(r"(\d+)-core", row.says)
    total = len(facts.brief_host.cores)
    return int(said) == len(cpus) != cores, (
        f"{len(cpus)} logical CPUs / 2 = {cores} cores; 2 x {said} of {total} cores would be "
        f"{200 * int(said) / total:.0f} %, and the text gives data nodes {200 * cores / total:.0f}"
    )


@shows("boost")
def _boost(row: Correction, facts: Facts) -> Shown:
    table_mhz, other_mhz = facts.number("boost frequency") * 1000, numbers(row.but)[-1]
    return table_mhz != other_mhz, f"{table_mhz:g} MHz and {other_mhz:g} MHz"


@shows("kernel")
def _kernel(row: Correction, facts: Facts) -> Shown:
    [table] = re.findall(r"-(\d+\.\d+\.\d+)", facts.table["kernel"])
    [other] = re.findall(r"\d{4}\.\d+\.\d+", row.but)
    return table != other and table in row.says, f"{table} and {other}"


@shows("disks")
def _disks(row: Correction, facts: Facts) -> Shown:
    [said] = numbers(row.says)
    disks, tb = numbers(facts.table["storage"])[:2]
    return said != tb, (
        f"{disks:g} x {said:g} TB = {disks * said:g} TB, {disks:g} x {tb:g} TB = {disks * tb:g}"
    )


@shows("threads-36")
def _threads_36(row: Correction, facts: Facts) -> Shown:
    counts = [int(n) for n in re.findall(r"(\d+) (?:ldm|query|tc|send|recv|main)", row.says)]
    last = max(*facts.threads("5"), *facts.threads("9"))
    return sum(counts) == facts.low("F9-threads") < last + 1, (
        f"{' + '.join(map(str, counts))} = {sum(counts)}; threads 0 to {last} are {last + 1}, "
        f"{last + 1 - sum(counts)} more: 1 rep and {counts[0]} recover"
    )


@shows("uniform-default")
def _uniform_default(row: Correction, facts: Facts) -> Shown:
    [other] = re.findall(r"sysbench (\d+\.\d+) draws", row.but)
    used = facts.table["load generator"]
    return not used.startswith(f"sysbench {other}") and used.split()[-1] in row.but, (
        f"{used} (uniform) and sysbench {other} (special): two versions, two defaults"
    )


@shows("api-ids")
def _api_ids(row: Correction, facts: Facts) -> Shown:
    said = int(numbers(row.says)[0])
    first, last = (int(n) for n in numbers(row.but)[-2:])
    return said not in range(first, last + 1) and tuple(range(first, last + 1)) == API_NODE_IDS, (
        f"{said} is not one of {first} to {last}"
    )


@shows("config-name")
def _config_name(row: Correction, facts: Facts) -> Shown:
    said, published = (re.findall(r"\w+\.ini", text)[0] for text in (row.says, row.but))
    return said != published, f"{said} and {published}"


@shows("numactl-memory")
def _numactl_memory(row: Correction, facts: Facts) -> Shown:
    nodes = len(facts.brief_host.numa_nodes)
    return "-m" in row.but and nodes > 1, (
        f"1 of {nodes} NUMA nodes is half of the memory; -C alone leaves all {nodes} open"
    )


@shows("redo-2TB")
def _redo(row: Correction, facts: Facts) -> Shown:
    memory = facts.brief_plan.memory
    disk_tb = numbers(facts.table["storage"])[1]
    parts, files = memory.fragment_log_parts, memory.fragment_log_files
    return memory.redo_bytes / 1e12 > disk_tb / 2, (
        f"{parts} x {files} x {memory.fragment_log_file_bytes / GIB:g} GiB = "
        f"{memory.redo_bytes / TIB:g} TiB, "
        f"{percent(memory.redo_bytes / 1e12 / disk_tb)} of {disk_tb} TB"
    )
