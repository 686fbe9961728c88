"""The lab's commands. `./lab --list` shows them; `./lab --help NAME` explains one."""

from __future__ import annotations

import codecs
import errno
import functools
import itertools
import os
import signal
import subprocess
import sys
import unicodedata
from json import dumps
from pathlib import Path

from invoke import Collection, Config, Exit, ParseError, Program, task

from ndblab.error import LabError
from ndblab.machine import cgroups, host, user
from ndblab.machine.commands import exit_on_sigterm

ROOT = Path(__file__).resolve().parent
OUT = ROOT / "out"
FLAGS = ("--again", "--dry-run", "--json", "--may-change", "--writes", "--help", "-h")
"""Options of `compare`, `tune` and `watch` that have no value."""


def plain(error):
    """Replace what a stream cannot encode: a narrow space by a space, other characters by "?"."""
    text = unicodedata.normalize("NFKD", error.object[error.start : error.end])
    return text.encode("ascii", "replace").decode(), error.end


codecs.register_error("plain", plain)
for stream in (sys.stdout, sys.stderr):
    # Tests, and the absence of a terminal, put other streams in their place.
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="plain")


RESUME = "Completed runs are saved; run the same command again to resume."


def command(body, limits_cpus=False, mistake=1, **options_of_task):
    """Make an invoke task that reports a user's mistake in one message, without a traceback.

    `mistake` is the exit status after such a message.
    """

    @functools.wraps(body)
    def guarded(*arguments, **options):
        try:
            refuse_empty(options)
            if limits_cpus:
                cgroups.enter_scope(host.read().cpu_controller, [sys.executable, *sys.argv])
            done = body(*arguments, **options)
            if sys.stdout:
                sys.stdout.flush()
            return done
        except LabError as error:
            raise Exit(f"lab: {error}", code=mistake) from None
        except BrokenPipeError:
            sys.stderr.close()
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            if error.filename is None and not full:
                raise
            if full:
                # What standard output still holds would fail again at the exit.
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            place = error.filename or "what is written"
            raise Exit(f"lab: {place}: {error.strerror}.", code=mistake) from None
        except KeyboardInterrupt:
            raise Exit(f"lab: interrupted. {RESUME}", code=130) from None
        except SystemExit as leaving:
            names = {128 + number: number.name for number in (signal.SIGTERM, signal.SIGHUP)}
            name = names.get(leaving.code)
            if name is None:
                raise
            raise Exit(f"lab: ended by {name}. {RESUME}", code=leaving.code) from None

    return task(guarded, auto_shortflags=False, **options_of_task)


def refuse_empty(options):
    """Refuse an empty value, such as `--dataset "$UNSET"`: to ignore it would do something else."""
    given = {name: value for name, value in options.items() if isinstance(value, str)}
    if empty := [name for name, value in given.items() if not value.strip(" ,")]:
        raise LabError(
            "An option has no value",
            found=", ".join(f"--{name.strip('_').replace('_', '-')} ''" for name in empty),
            expected="a value, or not the option",
            next_step="Look at what your shell put in its place.",
        )


def refuse_two_places(hosts, attach):
    """Refuse hosts to start a cluster on beside a cluster that runs already."""
    if hosts and attach:
        raise LabError(
            "--hosts and --attach both say where the cluster is",
            found=f"--hosts {hosts} and --attach {attach}",
            expected="hosts to start a cluster on, or one that runs already",
            next_step="Drop one of them.",
        )


def say_unused(source, attached, needless, options):
    """Name on standard error the options that were given but change nothing.

    With a `source`, the data to read, these are all of `options`; on an `attached` cluster, those
    of the lab's own clusters. On one host, `needless` change nothing.
    """
    own = ("budget", "base-port", "engines", "host")
    on_attached = {name: options[name] for name in own} if attached and not source else {}
    for where, given in (
        ("data that are there already", options if source else {}),
        ("a cluster that runs already", on_attached),
        ("one host", needless),
    ):
        if unused := [f"--{name.removesuffix('_s')}" for name, value in given.items() if value]:
            names = ", ".join(unused).replace("_", "-")
            print(f"lab: without effect on {where}: {names}", file=sys.stderr)


cluster_command = functools.partial(command, limits_cpus=True)


def tools_of_experiments():
    """Return the tools that some experiments need besides NDB Cluster and sysbench."""
    from ndblab import discovery
    from ndblab.cluster import keys

    loads = discovery.modules("load")
    return [*(load.TOOL for load in loads if hasattr(load, "TOOL")), keys.TOOL]


@cluster_command
def reproduce(
    c, figure=None, table=None, experiment=None, all=False, profile="quick", budget="auto",
    recorded=False, dataset=None, servers=None, clients=None, repeats=None, duration=None,
    warmup=None, tables=None, table_size=None, seed=None, base_port=None, again=False,
    minutes=None, dry_run=False, host=None, engines=None, hosts=None, insecure_network=False,
    attach=None, endpoints=None,
):  # fmt: skip
    """Measure an experiment here (or read a dataset), draw its figures, judge its claims.

    Examples:
    ./lab reproduce --figure 6                 measure Figure 6 on this host (10 min)
    ./lab reproduce --figure 6 --recorded      redraw it from the dataset in this repository
    ./lab reproduce --figure 6 --dry-run       print the plan and every command
    ./lab reproduce --figure 6 --host brief    the same for the brief's server
    ./lab reproduce --all                      every experiment that this host has not measured
    ./lab reproduce --all --dry-run --hosts me@db1,me@db2,me@db3    what these would do
    ./lab reproduce --experiment ./mine        one of your own (see `./lab new`)

    A measurement that was interrupted resumes. Where this host has measured the same before,
    --minutes 20 gives its open claims 20 minutes more, and first repeats what others on the host
    disturbed. With --hosts, NDB's own links between hosts are encrypted, and only nodes with a key
    of this cluster can join. With --attach, the cluster keeps its configuration. Name its MySQL
    user in --endpoints (user@SOCKET); the password is that in [client] of ~/.my.cnf, or MYSQL_PWD.
    """
    from ndblab.design import catalogue

    # Found before anything that declares the tables of datasets: a folder may have some of its own.
    chosen = catalogue.chosen(experiment, figure, table, all)

    from ndblab.measuring.request import Request
    from ndblab.planning import number
    from ndblab.publishing import reproduction

    refuse_two_places(hosts, attach)
    overrides = {
        "servers": servers, "clients": clients, "repeats": repeats, "duration_s": duration,
        "warmup_s": warmup, "tables": tables, "table_size": table_size, "seed": seed,
    }  # fmt: skip
    minutes = minutes and number.whole("--minutes", minutes)
    for candidate in chosen:
        candidate.size(profile, overrides)
    attached = (attach, endpoints) if attach or endpoints else None
    dry_run = dry_run or bool(host)
    source = None if dry_run else dataset or ("recorded" if recorded else None)
    say_unused(source, attached, {"insecure-network": insecure_network and not hosts}, {
        "budget": budget != "auto", "base-port": base_port, "engines": engines, "host": host,
        "profile": profile != "quick", **overrides, "minutes": minutes, "hosts": hosts,
        "attach": attach, "endpoints": endpoints,
    })  # fmt: skip
    request = Request(
        profile, budget, overrides, base_port, again=again or not (all or minutes),
        minutes=minutes, engines=engines, hosts=hosts,
        insecure_network=bool(hosts and insecure_network), attach=attached,
    )  # fmt: skip
    if dry_run:
        for text in reproduction.dry_runs(chosen, request, host):
            print(text, end="\n\n")
        return
    reproduction.reproduce(chosen, source, request, OUT, rest_recorded=recorded)


@functools.partial(cluster_command, mistake=2, iterable=["side"])
def compare(
    c, side=None, workload=None, schema=None, writes=False, servers=None, clients=None,
    minutes=None, within=None, profile="quick", tables=None, table_size=None, seed=None,
    base_port=None, again=False, json=False, dry_run=False, attach=None, endpoints=None,
    may_change=False,
):  # fmt: skip
    """Compare two configurations of your own on this host, and say which is faster.

    Examples:
    ./lab compare ndb_batch_size=64K                  this setting against the default; 15 min
    ./lab compare servers=1 servers=2                 two values of a setting, A and B
    ./lab compare ndb_batch_size=64K --minutes 5      less time, a less certain answer
    ./lab compare SpinMethod=LatencyOptimisedSpinning --workload oltp_read_write
    ./lab compare before/ after/                      folders with config.ini and my.cnf
    ./lab compare mine.toml                           a TOML file against the default
    ./lab compare ndb_join_pushdown=off --workload queries.sql --schema dump.sql
    ./lab compare ndb_batch_size=64K --attach mgm1:1186 --endpoints me@sql1:3306 --may-change

    Each word is a setting of config.ini, of mysqld, of tables (READ_BACKUP=0), or of the lab:
    servers, clients, data_nodes=25% of the CPUs, engine. A name given twice makes the sides, A
    first; a name given once beside them is for both. `shm:SendBufferMemory=4M` names a section.

    The exit status is 0 if B is not slower, and 1 if it is slower, or worse by p95, CPU per query
    or errors. It is 3 if that is undecided, and 2 for an error. The same command resumes what was
    interrupted or undecided. With --attach, sides may differ only in what needs no restart, and
    --may-change lets the lab set global variables, which it puts back. It also allows loads that
    write, which are not undone. More: docs/compare.md
    """
    from ndblab.comparing import attached, comparison
    from ndblab.comparing.request import Request
    from ndblab.publishing.comparisons import notebook

    request = Request(
        tuple(side or ()), workload, schema, writes, servers, clients, minutes, profile,
        {"tables": tables, "table_size": table_size, "seed": seed}, base_port, again, json,
        dry_run, within, attach, endpoints, may_change,
    )  # fmt: skip
    if attach or endpoints:
        others = dict.fromkeys(("budget", "engines", "host"))
        say_unused(None, True, {}, {**others, "base-port": base_port})
        text, status = attached.compare(request, notebook=notebook.write_if_possible)
    else:
        with exit_on_sigterm():
            text, status = comparison.compare(request, notebook=notebook.write_if_possible)
    print(text)
    if status:
        raise Exit("", code=status)


@functools.partial(cluster_command, mistake=2, iterable=["side"])
def watch(
    c, side=None, save=None, baseline=None, workload=None, schema=None, writes=False, servers=None,
    clients=None, minutes=None, within=None, profile=None, tables=None, table_size=None, seed=None,
    base_port=None, json=False,
):  # fmt: skip
    """Compare the present state with a stored baseline, and keep the history: a gate for upgrades.

    Examples:
    ./lab watch --save nightly                     the installed programs as they are
    ./lab watch --save nightly production/ --workload oltp_read_write
    ./lab watch --baseline nightly                 what is installed now, against it
    ./lab watch --baseline nightly production/     and with the settings of today

    Sides are those of `./lab compare`, and so is the exit status: 0 not slower, 1 slower, 3
    undecided, 2 an error. Workload, servers, clients and sizes are stored with the baseline. A
    name with a slash is a folder of your own, in which baseline, history and trend are kept.
    """
    from ndblab.publishing.comparisons import watch

    load = {
        "workload": workload, "schema": schema, "writes": writes or None, "servers": servers,
        "clients": clients, "within": within, "profile": profile, "tables": tables,
        "table_size": table_size, "seed": seed,
    }  # fmt: skip
    if bool(save) == bool(baseline):
        raise LabError(
            "Say what to save, or with what to compare",
            expected="--save NAME or --baseline NAME",
            next_step="Begin with: ./lab watch --save nightly",
        )
    if save:
        if minutes is not None or json:
            raise LabError(
                "--minutes and --json belong to a comparison, and saving measures nothing",
                next_step="Give them with: ./lab watch --baseline NAME",
            )
        print(watch.save(save, side or (), load))
        return
    if given := [name for name, value in load.items() if value is not None]:
        raise LabError(
            "These are stored with the baseline",
            found=", ".join(f"--{name.replace('_', '-')}" for name in given),
            next_step="Leave them out, or save another baseline with them.",
        )
    with exit_on_sigterm():
        text, status = watch.compare(baseline, side or (), minutes, base_port, json)
    print(text)
    if status:
        raise Exit("", code=status)


@functools.partial(cluster_command, mistake=2, iterable=["side"])
def tune(
    c, side=None, minutes=None, knobs=None, goal="throughput", keep=None, workload=None,
    schema=None, writes=False, clients=None, profile="quick", tables=None, table_size=None,
    seed=None, base_port=None, again=False, json=False, dry_run=False, host=None,
):  # fmt: skip
    """Search for the best configuration of this host, and confirm it against yours.

    Examples:
    ./lab tune                                        from the lab's default, one hour
    ./lab tune brief                                  from the brief's 16 servers and CPU split
    ./lab tune mine/ --minutes 120                    from a folder with your config.ini and my.cnf
    ./lab tune servers=2 --goal p95                   from this setting, for a lower p95
    ./lab tune --workload queries.sql --schema dump.sql --keep "p95 < 20 ms"
    ./lab tune --knobs mine.csv --dry-run             what would be tried, and how
    ./lab tune brief --host brief                     the same for the brief's server

    Each trial is measured beside your configuration. The best are measured anew, and only that
    decides. A gain comes with the command that checks it on another day. --minutes is the
    time of all sittings together: the same command resumes an interrupted search, and with more
    minutes continues a complete one. More: docs/tune.md
    """
    from ndblab.tuning import tune as tuning
    from ndblab.tuning.wanted import Request

    request = Request(
        tuple(side or ()), workload, schema, writes, clients=clients, minutes=minutes,
        profile=profile, overrides={"tables": tables, "table_size": table_size, "seed": seed},
        port=base_port, again=again, as_json=json, only_plan=dry_run, knob_file=knobs, goal=goal,
        keep=keep, described=host,
    )  # fmt: skip
    print(tuning.tune(request))


@command
def commands(c):
    """Show the commands in groups, each with an example: what `./lab` alone does."""
    from ndblab.publishing import manual

    print(manual.overview())


@command
def experiments(c):
    """List the experiments: what they ask, their figures, how long they take."""
    from ndblab.publishing import manual

    print(manual.experiments())


@command
def install(c, tarball=None, sha256=None, tools=False, release=None):
    """Install NDB Cluster and sysbench unless present; five minutes, once.

    Examples:
    ./lab install                                     as the first measurement does by itself
    ./lab install --tools                             with what only some experiments need
    ./lab install --release newest                    the vendor's binaries
    ./lab install --tarball FILE_OR_URL --sha256 HEX  a tarball of your own

    They come from Debian's packages where this machine has a Debian archive. Elsewhere, and with
    --release VERSION or --release newest, NDB Cluster is the vendor's own binary tarball, whose
    signature is checked, and sysbench the distribution's.
    --tools adds go-tpc, which only TPC-C needs and Go builds, and what an older installation lacks:
    ndb_import, flexAsynch, ndb_sign_keys (for TLS).
    """
    from ndblab import install
    from ndblab.measuring import feasible

    known = tools_of_experiments()
    source = {"tarball": tarball, "release": release}
    feasible.require(host.read(), installing=True, **source, tools=known)
    binaries = install.ensure(tarball, sha256, release=release)
    for tool in known if tools else ():
        print(f"{tool.name} {tool.ensure()}")
    print(f"{binaries.product} from {binaries.origin}: {binaries.basedir}")
    print(f"sysbench {binaries.sysbench_version}: {binaries.sysbench}")


@cluster_command
def doctor(c, json=False):
    """Show what this host has and lacks, and what to do about it.

    Examples:
    ./lab doctor                          what is missing, and what to type
    ./lab doctor --json > host.json       describe this host, for `--host host.json` elsewhere
    """
    if json:
        print(dumps(host.read().to_dict(), indent=1))
        return
    from ndblab.publishing import doctor

    findings = doctor.examine(tools_of_experiments())
    for finding in findings:
        print(f"{finding.state:<7} {finding.thing}: {finding.found}")
        if finding.next_step:
            print(f"        -> {finding.next_step}")
    if any(finding.state == "missing" for finding in findings):
        raise Exit("", code=1)


@command
def config(c, host=None, out=None, profile="quick", budget="auto", servers=None):
    """Print config.ini and my.cnf as the lab writes them.

    Examples:
    ./lab config                              for this host
    ./lab config --host brief --out brief/    for the brief's server, as files in a folder
    """
    from ndblab.measuring import dry_run

    overrides = {"servers": servers}
    for name, text in dry_run.configuration(host, profile, budget, overrides).items():
        if out is None:
            print(f"# {name}\n{text}")
        else:
            Path(out).mkdir(parents=True, exist_ok=True)
            (Path(out) / name).write_text(text)
            print(Path(out) / name)


@command
def claims(c, id=None, dataset=None, csv=False):
    """Judge every published claim, or explain some: source, conditions, numbers, reason.

    Examples:
    ./lab claims                             a line for each, from the recorded datasets; a tally
    ./lab claims F6-peak F4-degrade          explain these two
    ./lab claims F6-peak --dataset latest    judge it by what was measured here last
    ./lab claims --csv > claims.csv          for a spreadsheet
    """
    from ndblab import dataset as datasets
    from ndblab.measuring import recorded
    from ndblab.publishing import terminal, verdict_tables

    ids = None if id is None else id.replace(",", " ").split()
    judged = [datasets.read(recorded.folder_named(dataset))] if dataset else recorded.every()
    table = verdict_tables.of(judged[0], ids) if dataset else verdict_tables.every(ids)
    missing = sorted(set(ids or ()) - set(table["id"]))
    if dataset and (missing or table.empty):
        raise LabError(
            "This dataset judges no such claim",
            found=f"{', '.join(missing) or 'no claim at all'} in {judged[0].id}",
            expected=f"a claim of {judged[0].experiment}",
            next_step="Without --dataset, the recorded datasets judge them.",
        )
    if csv:
        print(table.to_csv(index=False).rstrip())
    elif ids:
        print(terminal.in_full(table, {data.id: data for data in judged}))
    else:
        print((terminal.by_dataset if dataset else terminal.every)(table, judged))


def fitted(folder):
    """Fit the capacity model to the recorded sweep, or to the dataset of a folder."""
    from ndblab.experiments.capacity import forecast
    from ndblab.measuring import recorded

    folder = folder and recorded.folder_named(folder)
    return forecast.obtain(folder, folder) if folder else forecast.obtain()


@command
def predict(c, servers=None, clients=None, cpus=None, qps_one_server=None, from_=None):
    """Predict throughput, latency and bottleneck of many MySQL servers from a one-server sweep.

    Examples:
    ./lab predict --servers 8 --clients 64                  from the recorded sweep
    ./lab predict --servers 8 --clients 64 --from latest    from your last `reproduce --figure 4`
    ./lab predict --servers 16 --clients 1024 --cpus 256 --qps-one-server 230000    a larger host

    No cluster is needed. Notebook 05 shows how far such predictions were off.
    """
    from ndblab.experiments.capacity import commands as answers

    print(answers.predict(fitted(from_), servers, clients, cpus, qps_one_server))


@command
def size(c, cpus=None, qps_one_server=None, from_=None):
    """Recommend servers and clients, and whether to divide the CPUs, for this host or another.

    Examples:
    ./lab size                                      after `reproduce --experiment costs`
    ./lab size --from latest                        and after `reproduce --figure 4`: a division
    ./lab size --cpus 256 --qps-one-server 230000    for a larger host

    What was measured here without quotas comes first: your last `reproduce --experiment costs`.
    The division of CPUs below it is the model's, fitted to the recorded one-server sweep, or to
    that of --from DIR (or latest). For a host of another size, give --qps-one-server QPS: what
    one MySQL server reaches there. The last line is a command that tries the advice.
    """
    from ndblab.experiments.capacity import commands as answers
    from ndblab.experiments.capacity import undivided

    own, here = fitted(from_), host.read()
    mine = undivided.measured_on(own.fitted.host if from_ else here.to_dict())
    host_cpus = here.usable_cpus if cpus is None and not from_ else cpus
    print(answers.size(own, host_cpus, qps_one_server, mine))


@cluster_command
def start(c, servers="2", budget="auto", base_port=None):
    """Start a cluster that runs until cluster.stop, and print how to log in.

    Examples:
    ./lab cluster.start                two MySQL servers
    ./lab cluster.start --servers 4    four
    """
    from ndblab import install
    from ndblab.cluster import start_stop
    from ndblab.design import catalogue
    from ndblab.measuring import feasible, measurement

    experiment = catalogue.find(figure=6)
    size = experiment.size("quick", {"servers": servers})
    machine, plan = measurement.plan_for(experiment, size, budget, base_port)
    feasible.check(machine, plan)
    started = start_stop.start(plan, install.ensure())
    print(f"Ready after {started.timings['cluster_start_s']} s. MySQL servers (user root):")
    for node in started.plan.servers:
        print(f"  mysql --no-defaults -u root -S {node.socket}")


@command
def status(c):
    """Show the running processes of the lab's cluster."""
    from ndblab.cluster import start_stop

    rows = start_stop.status(start_stop.home())
    for row in rows:
        print(f"{row['process']:<10} {row['node']:<4} {row['pid']:<8} {row['rss_bytes'] >> 20} MiB")
    print(f"Processes running in {start_stop.home()}: {len(rows)}")


@command
def stop(c):
    """Stop the lab's cluster and clean up after it, even after a SIGKILL."""
    from ndblab.cluster import start_stop

    ended = start_stop.stop(start_stop.home())
    stopped = f"Processes stopped: {ended}. Nothing of the cluster is left."
    print(stopped if ended else "No cluster was running.")


@command
def detach(c, attach=None, endpoints=None):
    """Remove what a killed --attach left on a cluster, and put back its variables.

    Example, with the options that the killed command had:
    ./lab cluster.detach --attach mgm1:1186 --endpoints bench@sql1:3306
    """
    from ndblab.attach import measurement as attaching

    done = attaching.detach(attach, endpoints)
    print(f"{done[:1].upper()}{done[1:]}." if done else "Nothing of the lab is left there.")


@cluster_command
def notebook(c):
    """Open JupyterLab in the folder of the notebooks."""
    from ndblab.publishing import notebook

    argv = notebook.open_lab(ROOT / "notebooks")
    os.execv(argv[0], argv)


@command
def render(c, experiment=None):
    """Render notebooks, figures and the README's verdicts from the recorded datasets.

    Examples:
    ./lab render                             everything
    ./lab render --experiment connection-pool    one notebook, in about a minute
    """
    from ndblab.publishing import rendering

    print("\n".join(str(path) for path in rendering.render(experiment)))


@command
def report(c, out=None):
    """Write a website of all results, recorded ones and yours; it works offline.

    Examples:
    ./lab report                     to out/report; open out/report/index.html
    ./lab report --out /tmp/site     to another folder
    """
    from ndblab.publishing import rendering

    print(rendering.write_report(Path(out) if out else OUT / "report"))


@command
def new(c, folder):
    """Write an experiment of your own that works at once.

    Examples:
    ./lab new mine                                            write the folder
    ./lab reproduce --experiment ./mine                       measure it; 2 to 3 min
    ./lab test --experiment ./mine                            check it against the rules for all

    It compares two variants under a script of sysbench. Change its files to what you want.
    """
    from ndblab.design import own

    for file in own.write(Path(folder)):
        print(file)
    here = folder if folder.startswith(("/", "./", "../")) else f"./{folder}"
    print(f"Measure it: ./lab reproduce --experiment {here}")


def pytest(*arguments):
    """Run pytest in the project's folder; return its exit status.

    Bytecode is kept in the cache folder. Otherwise, for a user who keeps it out of source folders,
    each process would compile everything anew. nbval is off in these processes, since it imports
    Jupyter; only programs that the tests start use it.
    """
    from ndblab import install

    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(install.location() / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:nbval", *arguments]
    code = subprocess.run(argv, cwd=ROOT, env=environment, check=False).returncode
    # Of a process that a signal ended it is negative, and no success.
    return code if code >= 0 else 128 - code


@cluster_command
def test(c, only=None, slow=False, cluster=True, virtual_machine=False, experiment=None):
    """Run the tests: those of every part, then those of a real cluster.

    Examples:
    ./lab test                         9 min
    ./lab test --slow                  24 min: whole experiments, kills, several hosts, a browser
    ./lab test --no-cluster            only what needs no cluster
    ./lab test --only verdict          only tests with this word in their name
    ./lab test --experiment ./mine     an experiment of your own

    --virtual-machine runs the tests that boot Debian in QEMU, on an emulated host with two
    sockets, two NUMA nodes, systemd and cgroup v2. They take an hour or more.
    """
    from ndblab import install
    from ndblab.measuring import feasible

    if experiment:
        from ndblab.design import catalogue

        catalogue.find(experiment)
        raise Exit(code=pytest("tests/design/test_contract.py"))
    if cluster or virtual_machine:
        feasible.require(host.read(), installing=True, tools=tools_of_experiments())
        install.ensure()
    # One more than CPUs: some tests wait, for processes that end or for time that goes by.
    workers = min((os.cpu_count() or 1) + 1, 8)
    parallel = ["-n", str(workers), "--dist", "loadfile"]
    tier = "slow" if slow else "not slow"
    # A cluster that starts waits most of the time: two of them use the CPUs of one.
    beside = ["-n", "2", "--dist", "loadfile"]
    groups = {f"{tier} and not cluster": parallel, f"{tier} and cluster": beside}
    if virtual_machine:
        groups = {"virtual_machine": []}
    elif not cluster:
        groups.popitem()
    chosen = ["-k", only] if only else []
    codes = {pytest("-m", group, *options, *chosen) for group, options in groups.items()}
    # pytest ends with 5 where no test is selected.
    raise Exit(code=max(codes - {5}, default=5))


@cluster_command
def bench(c, only=None, real=None):
    """Measure the lab itself and print each result beside its goal.

    Examples:
    ./lab bench                     all
    ./lab bench large               one of them

    `bench compare` looks for known differences, added to recorded slices. With --real N it makes N
    comparisons of each kind on a cluster; it resumes if interrupted. `bench tune` simulates
    searches. With --real MINUTES, plain Optuna searches on a cluster from the brief's
    configuration, with single runs. Nothing else should use the host.
    """
    from ndblab import benchmarks

    benchmarks.run(only, real)


@cluster_command
def faults(c, count="200", seed="1", first=None, kind=None, at_once="1"):
    """Inject random faults into the lab and its cluster, and look for damage.

    Examples:
    ./lab faults --count 20                      20 faults; 200 without --count
    ./lab faults --first 7 --count 1             repeat the 7th fault alone
    ./lab faults --count 1000 --at-once 2        for hours; started again, it resumes

    After each it checks that nothing is lost, damaged or left behind. Several faults of nodes or
    of the network share a cluster. After a fault that ends the lab, the lab is started again and
    resumes; at the end, a start without a fault must work. To save time, heartbeats and checkpoints
    are more frequent than by default. Faults of the network need root; without it they are skipped.
    """
    sys.path.insert(0, str(ROOT / "tests"))
    from campaign import run

    run.campaign(count, seed, first, kind, at_once)


namespace = Collection(
    commands, experiments, reproduce, compare, tune, watch, report, claims, predict, size,
    install, doctor, config, notebook, render, new, test, bench, faults,
)  # fmt: skip
namespace.add_collection(Collection("cluster", start, status, stop, detach))


def explain_options():
    """Give every option its line of help, where invoke is asked for it."""
    from ndblab.publishing import manual

    for name, options in manual.OPTIONS.items():
        namespace[name].help = dict(options)


if "--help" in sys.argv or "-h" in sys.argv:
    explain_options()


def spelled_out(words):
    """Return the words of a command line as options, since invoke has no optional plain words.

    `bench NAME` becomes `bench --only NAME`, and `claims ID ID` becomes `claims --id ID,ID`.
    `compare A B` becomes `compare --side A --side B`; so it is with `tune` and `watch`.
    """
    name, *rest = words or [""]
    if name == "bench" and rest and not rest[0].startswith("-"):
        return [name, "--only", *rest]
    if name == "claims":
        ids = list(itertools.takewhile(lambda word: not word.startswith("-"), rest))
        return [name, *(["--id", ",".join(ids)] if ids else []), *rest[len(ids) :]]
    if name not in ("compare", "tune", "watch"):
        return list(words)
    spelled, takes_value = [name], False
    for word in rest:
        is_option = word.startswith("-") and not takes_value
        spelled += [word] if is_option or takes_value else ["--side", word]
        takes_value = is_option and "=" not in word and word not in FLAGS
    return spelled


class Lab(Program):
    """The lab's commands. A mistake in the command line is no result: it has status 2."""

    def parse_tasks(self):
        """Parse the words of tasks."""
        try:
            super().parse_tasks()
        except ParseError as error:
            raise Exit(f"lab: {error}", code=2) from None


class OwnConfig(Config):
    """invoke's settings without those in ~/.invoke.yaml and INVOKE_*, which other projects need."""

    prefix = "ndblab"


def become_lab(called=sys.argv[0]):
    """If `invoke` itself has loaded this file, start again without its user's settings."""
    if Path(called).stem in ("invoke", "inv") or called.endswith("invoke/__main__.py"):
        os.environ.pop("INVOKE_RUNTIME_CONFIG", None)
        # Without its user's root, in case that is set; one that was typed counts.
        typed = any(word.startswith(("-r", "--search-root")) for word in sys.argv[1:])
        root = [] if typed else ["--search-root", str(ROOT)]
        os.execv(sys.executable, [sys.executable, __file__, *root, *sys.argv[1:]])


if __name__ == "tasks":
    become_lab()
if __name__ == "__main__":
    user.forget_settings()
    try:
        lab = Lab(name="lab", binary="./lab", version="0.1", config_class=OwnConfig)
        places = 2 if sys.argv[1:2] == ["--search-root"] else 0
        root, words = sys.argv[1 : 1 + places], sys.argv[1 + places :]
        lab.run([sys.argv[0], *root, *spelled_out(words)])
    except BrokenPipeError:
        sys.stderr.close()
