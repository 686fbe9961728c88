"""The figures of transporters, spinning and TLS."""

from __future__ import annotations

from ndblab.figures import style, variants
from ndblab.figures.selection import DEFAULT
from ndblab.figures.variants import Comparison, Kind

_TRANSPORTERS = Comparison(
    Kind("TCP", "tcp", DEFAULT, style.OVER_TCP, "s"),
    (Kind("SHM", "shm", DEFAULT, style.THROUGHPUT),),
    "Both sides have the same share of the CPUs as a quota.",
    is_pooled=True,
)
_SPINNING = Comparison(
    Kind("no spinning", "shm", DEFAULT, style.THROUGHPUT),
    (
        Kind("spinning transporter", "shm", "shm-spin", style.ORANGE, "s"),
        Kind("spinning tc and ldm too", "shm", "all-spin", style.VIOLET, "^"),
    ),
    "Spinning consumes CPU quota; dedicated CPUs are unaffected.",
)
_TLS = Comparison(
    Kind("plain text", "tcp", DEFAULT, style.OVER_TCP, "s"),
    (Kind("TLS", "tcp", "tls", style.TEAL),),
    "Both sides have the same share of the CPUs as a quota, which encryption uses too.",
)

FIGURES = {
    "shm-vs-tcp": variants.entry(
        "How much faster are shared-memory transporters than TCP?", _TRANSPORTERS
    ),
    "spinning": variants.entry("How much throughput does spinning gain?", _SPINNING),
    "tls": variants.entry("How much throughput does TLS on NDB's links cost?", _TLS),
}
