"""How local reads are: to the data node that coordinates a transaction, and to the MySQL server.

In: the table `reads` of a dataset. Out: shares of rows and bytes. It decides nothing.

shares  of each run or slice, of each side of a contrast, and what placement by chance would give
"""
