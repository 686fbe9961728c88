"""Locking reads: statements that read an InnoDB table, and the locks that each of them takes.

In: a cluster whose MySQL servers have their performance schema on, and a `Job`. Out: the table
`locks`. It measures no time, and touches no table of NDB.

client     the program that runs the statements and reads the locks
generator  starts it
"""
