"""Checks of the claims on scaling, by what they look at."""

from ndblab.experiments.scaling.checks import data_nodes, latency, processes, throughput

__all__ = ["data_nodes", "latency", "processes", "throughput"]
