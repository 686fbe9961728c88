"""The capacity model: from the sweep of one MySQL server to the throughput and latency of many.

`demands` measures what a query costs, `network` and `model` predict from it, `comparison` and
`forecast` hold predictions against measurements, and `choice` has the rule for the method in use.
`undivided` reads what servers do without quotas, and `commands` answers `./lab predict` and
`./lab size`.
`brief_server` predicts the brief's server from published numbers alone. The package measures
nothing and writes nothing.
"""
