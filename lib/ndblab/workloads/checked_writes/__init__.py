"""A load whose every write can be checked afterwards.

In: a cluster, clients and a seed. Out: the history of operations as the clients saw them, and the
rows that each data node holds afterwards. `analysis.write_history` compares the two.
"""
