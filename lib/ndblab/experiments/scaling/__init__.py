"""How one cluster scales with clients, MySQL servers and threads: Figures 4 to 9 of the brief."""
