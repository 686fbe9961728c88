"""The load on a running cluster, and what is measured while it runs.

It never decides what is measured, nor what a failed run means.

load_generator  what the lab needs of a program that loads a cluster
action          a load that is one program which ends by itself
registry        which of them runs a workload: sysbench, checked writes, TPC-H's queries, dumps,
                locking reads, TPC-C
program         programs of the lab that run beside a cluster, such as those that fill tables
measured_run    one run: load and monitors together
read_locality   where the reads of a run were answered, from the counters of servers and data nodes
lua/            the lab's own scripts for sysbench
"""
