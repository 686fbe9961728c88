"""The figures of transporters, spinning and TLS."""

from __future__ import annotations

from ndblab.figures import variants

FIGURES = {
    "shm-vs-tcp": variants.entry(
        "How much faster are shared-memory transporters than TCP?", variants.TRANSPORTERS
    ),
    "spinning": variants.entry("How much throughput does spinning gain?", variants.SPINNING),
    "tls": variants.entry("How much throughput does TLS on NDB's links cost?", variants.TLS),
}
