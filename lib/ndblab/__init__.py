"""The scale-up lab for MySQL NDB Cluster. Data go one way, down; importing this costs nothing.

know      brief        what was published: claims, corrections, numbers
          host         the machine: CPUs, NUMA nodes, memory, limits
decide    profile      how long and how wide a sweep is
          plan         who gets which CPUs, memory, ports and folders
          config       the plan as config.ini, my.cnf and command lines
act       install/     where NDB Cluster and sysbench come from
          process      starts, finds and ends processes; `guard` ends those of a lab that died
          lease        one lab at a time in a cluster's folder
          quota        CPU limits by control groups
          cluster      a real cluster, from nothing to ready and back
          sysbench     its command line and its run; `sysbench_text` reads what it prints
          monitor      CPU and memory of processes, CPU of NDB threads, while it runs
          workload     one warm, measured and watched run
record    dataset/     the folder of raw tables: the only reader and writer
          sweep        points, repeats, order, resume
explain   summary      means, spread, confidence
          claims       published against measured; `checks` has one check for each claim, `evidence`
                       what a check may look at, `verdict` how tests become one
          figures      one function for each figure; `panels` and `style` are its parts
bind      experiments  question, sweep, notebook, figures and claims under one name
          notebook     executed with parameters, turned into HTML
          reproduction what `./lab reproduce` does, from the data to the page
          doctor       what this host has and lacks
          bench        how fast and how heavy the lab itself is

error.LabError is the one message that a user reads. pyproject.toml holds the layers to their word.
"""
