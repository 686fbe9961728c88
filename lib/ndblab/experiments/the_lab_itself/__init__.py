"""How far a measurement of the lab can be trusted, from contrasts of the lab with itself."""

A_A, A_A_DUET = "a-a", "a-a-duet"
"""Contrasts of identical sides, in the two designs."""
MONITOR, NEIGHBOUR, SPINNER = "monitor", "neighbour", "spinner"
"""The same load with over without: the lab's monitor; a process beside it that uses a CPU; every
CPU kept awake."""
SERVERS, SERVERS_AWAKE = "servers-1-2", "spinner-1-2"
"""Two servers over one, and the same with every CPU kept awake."""
