"""Shared memory, TCP and TLS."""
