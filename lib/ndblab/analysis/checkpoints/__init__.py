"""What local checkpoints cost a run: when they ran, and throughput and CPU inside and outside.

In: the events and samples of a run. Out: spans of time, cycles, estimates with intervals. Pure.
"""
