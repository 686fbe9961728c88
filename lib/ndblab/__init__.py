"""The scale-up lab for MySQL NDB Cluster. Data go one way, down; importing this costs nothing.

know      brief        what was published: claims, corrections, numbers
          host         the machine: CPUs, NUMA nodes, memory, limits
decide    profile      how long and how wide a sweep is
          budget       how the host's CPUs are divided; `memory` how much of it a cluster takes
          plan         who gets which CPUs, memory, ports and folders
          config       the plan as config.ini, my.cnf and command lines
          fault        what is done to which node, and when
act       install/     where NDB Cluster and sysbench come from
          process      starts, finds and ends processes; `guard` ends those of a lab that died
          lease        one lab at a time in a cluster's folder
          quota        CPU limits by control groups
          cluster      a real cluster, from nothing to ready and back; `node_log` reads its logs
          sysbench     its command line and its run; `sysbench_text` reads what it prints
          monitor      CPU and memory of processes, CPU of NDB threads, while it runs
          workload     one warm, measured and watched run
          availability one run through a fault: `load` and its `client` write what can be checked,
                       `injection` does the fault, `survey` reads what each data node holds
record    dataset/     the folder of raw tables: the only reader and writer
          sweep        points, repeats, order, resume
explain   summary      means, spread, confidence; `series` the same of one long run
          claims       published against measured; `checks` has one check for each claim,
                       `evidence`, `pairs` and `usage` what it may look at, `verdict` its outcome
          ratios       variants in pairs; `costs` CPU a query, `sizing` the brief's rule,
                       `minutes` what a start of a long run tells
          outage       what a fault did to the service; `history` is the checker of its writes
          capacity/    from one server's sweep to many: demands, bounds, a network, its percentiles
          tables       the brief's tables beside a host; `corrections` where sources contradict
          figures/     one module for each kind of figure; `style` is how all of them look
bind      catalogue/   question, sweep, variants, notebook, figures and claims under one name
          measurement  from this host to a dataset
          forecast/    the capacity model held against data: tables, figures, answers
          experiments  what a notebook asks for: data, provenance, figures, verdicts
          notebook     executed with parameters, its figures as files, turned into HTML;
                       `picture` is a figure on its page
          reproduction what `./lab reproduce` does, data to page; `rehearsal` only says it
          report/      all results as a site of plain files
          rendering    what is committed of the recorded datasets, made anew
          doctor       what this host has and lacks
          bench/       how fast and how heavy the lab itself is; `faults` what it withstands

error.LabError is the one message that a user reads. pyproject.toml holds the layers to their word.
"""
