"""The capacity model: from the sweep of one MySQL server to the throughput and latency of many.

`demands` measures what a query costs, `network` and `model` predict from it, `comparison` and
`forecast` hold predictions against measurements. `undivided` reads what servers do without quotas,
and `commands` answers `./lab predict` and `./lab size`. `brief_server` does the same for the
brief's server, from published numbers alone. It measures nothing and writes nothing.
"""
