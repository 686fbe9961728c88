"""The capacity model: from the sweep of one MySQL server to a figure of many.

In: the tables of a dataset, or published numbers. Out: demands, bounds, predictions with intervals,
percentiles, errors, advice. Pure: it reads no file and starts nothing.

demand      CPU time a query takes of each resource, measured, and its law
network     closed queueing network: bounds and mean value analysis
model       the cluster as such a network, fitted to one server, asked for more
simulation  percentiles of latency, by playing the network through
baselines   simpler ways to predict, which the model has to beat
trial       predictions beside measurements: the errors
published   the brief's own server, from its published numbers alone
advice      servers, clients and CPUs for a host
"""
