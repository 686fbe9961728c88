"""Checks of the claims on long runs; importing the package registers them."""

from __future__ import annotations

from ndblab.experiments.stability.checks import conditions, run

__all__ = ["conditions", "run"]
