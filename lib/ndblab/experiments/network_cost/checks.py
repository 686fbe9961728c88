"""Checks on what the network between hosts costs."""

from __future__ import annotations

from ndblab.error import MissingData
from ndblab.judging.checks import check
from ndblab.judging.contrasted import A, place, ratio
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Finding, decide

CLIENTS = "clients"


@check("N-clients")
def clients_elsewhere(claim: Claim, evidence: Evidence) -> Finding:
    """Compare clients on their own host with clients on their server's, over its Unix socket."""
    hosts = evidence.dataset.manifest.get("hosts", {})
    if not hosts:
        raise MissingData("the cluster was on one host")
    where = place(evidence, CLIENTS, A)
    test = ratio(evidence, CLIENTS, f"times that on the server's own host {where.words}")
    apart = f"{len(hosts)} hosts"
    if evidence.dataset.manifest.get("namespaces"):
        apart = "network namespaces of one machine: the kernel's path, without a cable"
    note = f"{apart}; TLS on both sides"
    return decide(claim, "throughput of clients on another host is", [test], note)
