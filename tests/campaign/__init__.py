"""The fault campaign: random faults injected into the lab and its cluster, each followed by checks.

In: a seed and a number of faults. Out: a table of what each kind of fault lost, damaged or left
behind. `./lab faults` runs it; it never touches the user's own cluster or datasets.
"""
