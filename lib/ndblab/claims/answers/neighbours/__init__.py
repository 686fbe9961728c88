"""The answers about what the brief's neighbours claim, one module for each of their experiments."""

from ndblab.claims.answers.neighbours import tpc_c

__all__ = ["tpc_c"]
