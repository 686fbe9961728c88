"""Key lookups through the NDB API: the load generator flexAsynch, one of NDB's own test programs.

In: a cluster and a `Job`. Out: lookups per second. It reads tables of its own, whose rows are as
large as what a point select of sysbench returns; no MySQL server takes part.

output     what flexAsynch prints, as a result
generator  fills its table, and runs it
"""
