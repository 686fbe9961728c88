"""The capacity model: from the sweep of one MySQL server to the throughput and latency of many.

In: the tables of a dataset, or published numbers. Out: demands, bounds, predictions with intervals,
percentiles, prediction errors, advice. It measures nothing, and writes only its cache.

demands            CPU time per query of each resource, and the law fitted to it
network            closed queueing network: bounds and mean value analysis
model              the cluster as such a network, fitted to one server, asked about more
simulation         latency percentiles, by simulating the network; cached on disk
bounds             bounds of one server, and where they meet
comparison         predictions compared with measured points, and with simpler methods
utilisation        utilisation of each resource, predicted and measured
forecast           a model fitted to one dataset and compared with another
brief_server       the brief's own server, from its published numbers alone
advice             servers, clients and CPU split for a host
answers            what `./lab predict` and `./lab size` print
"""
