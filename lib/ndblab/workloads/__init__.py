"""The load on a running cluster, by sysbench or any other program.

It decides neither what is measured nor what a failed run means.

load_generator  what the lab needs of a program that loads a cluster
registry        which program runs a workload: sysbench, or the `load` module of an experiment
sysbench        its commands; `sysbench_output` reads what it prints
action          a load that is one program which ends by itself
turns           the clients of two sides, connected at once, that work in turn
divided_load    one load, divided among several processes
program         programs of the lab that run beside a cluster, such as those that fill tables
own/            the user's workloads: a file of SQL, a slow log, a script, a program
"""
