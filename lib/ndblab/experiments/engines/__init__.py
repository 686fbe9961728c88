"""Two engines at high load."""
