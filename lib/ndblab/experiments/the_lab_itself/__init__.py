"""How far a measurement of the lab can be trusted, from contrasts of the lab with itself."""

A_A, A_A_DUET = "a-a", "a-a-duet"
"""Contrasts of identical sides, in the two designs."""
MONITOR, NEIGHBOUR, SPINNER = "monitor", "neighbour", "spinner"
"""The same load with the lab's monitor over without; beside one process that uses a CPU over
without; with every CPU kept awake over without."""
SERVERS, SERVERS_AWAKE = "servers-1-2", "spinner-1-2"
"""Two servers over one, and the same with every CPU kept awake."""
