"""A workload of the user's own: a file of SQL, a script, a slow log, or a program.

resolving     what `--workload` and `--schema` name, as a load generator
sql_file      statements, weights and transactions; `placeholder` has their values
sql_script    the script for sysbench that a file of SQL becomes
slow_log      MySQL's slow query log; `replay` is the script that runs its statements again
dump_file     the user's tables
scripted      sysbench with one of these scripts
program       a program that prints a line of JSON a second; `program_load` is its generator
"""
