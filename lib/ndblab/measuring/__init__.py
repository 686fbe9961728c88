"""The measurement: sweeps, and blocks of slices, on clusters that it starts and stops.

It judges nothing: while it runs, a verdict only ends or prolongs it.
"""
