"""The answer about the network between hosts. The datasets are made up, never a measurement."""

from __future__ import annotations

from dataclasses import replace

from made_up import CLAIMS, Double, contrasted, double
from ndblab.judging import answers, judge


def answered(blocks: int, namespaces: bool = True, tls: bool = False) -> answers.Answer:
    dataset: Double = double(lambda n, c: 100.0)
    for name, ratio in (("clients", 0.9), ("servers", 0.8), ("servers-by-tcp", 1.02)):
        sides = {"a": (1, 32, {"qps": 1000 * ratio}), "b": (1, 32, {"qps": 1000.0})}
        claims = ("N-clients",) if name == "clients" else ()
        dataset = contrasted(dataset, name, sides, blocks=blocks, claims=claims)
    own = dataset.manifest["contrasts"][0]["b"]["point"]
    own["variant"] = "beside"
    known = {
        "variants": {"beside": {"clients_beside": True}},
        "hosts": {"a": {}, "b": {}},
        "namespaces": namespaces,
        "links_encrypted": tls,
    }
    dataset = replace(dataset, manifest={**dataset.manifest, **known})
    return answers.answer("network-cost", judge.judge(dataset, ["N-clients"], CLAIMS), dataset)


def test_clients_come_first_then_servers_then_what_the_network_was():
    """Each with its ratio and interval."""
    clients, servers, by_tcp, hosts = answered(9).certain
    assert clients.startswith("under CPU quotas, clients in another network namespace got 9.8 % ")
    assert "fewer queries than with shared memory (" in servers
    assert "more queries than with TCP beside the data nodes (" in by_tcp
    assert "without a cable" in hosts


def test_before_there_is_an_interval_nothing_is_said_of_servers():
    """One block has a ratio only, and the claim is open."""
    answer = answered(1)
    assert not answer.certain
    assert answer.open == (
        "whether clients on another host get fewer queries/s than on their server's own",
    )


def test_encrypted_links_are_named_as_a_part_of_the_ratio():
    """Hosts of a user's own have them by default, and shared memory is never encrypted."""
    *_, links = answered(9, namespaces=False, tls=True).certain
    assert "TLS is part of this" in links
