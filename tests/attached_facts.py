"""An attached cluster as it was captured: two data nodes, two MySQL servers, NDB 9.7.4."""

from __future__ import annotations

import csv
from pathlib import Path

from ndblab.attach.endpoint import Endpoint
from ndblab.attach.facts import Facts, Process, Server
from ndblab.cluster import management_client

CAPTURED = Path(__file__).parent / "captured"
SHOW = (CAPTURED / "ndb_mgm/show.txt").read_text()
STATUS = (CAPTURED / "ndb_mgm/all_status.txt").read_text()
PORT = 13860


def rows(name: str) -> list[dict[str, str]]:
    with (CAPTURED / f"ndbinfo/{name}.tsv").open() as file:
        return list(csv.DictReader(file, delimiter="\t"))


def server(number: int, **changes: object) -> Server:
    variables = {
        "version": "9.7.4-2", "server_uuid": f"uuid-{number}", "max_connections": "144",
        "require_secure_transport": "OFF",
    }  # fmt: skip
    known = {
        "endpoint": Endpoint(f"/run/{number}.sock"), "node_id": 10 + number, "data_nodes": (2, 3),
        "management_port": PORT, "variables": variables, "connections": 1,
    }  # fmt: skip
    return Server(**(known | changes))


def facts(**changes: object) -> Facts:
    config: dict[int, dict[str, str]] = {}
    for row in rows("config_values"):
        for node in (2, 3):
            config.setdefault(node, {})[row["param_name"]] = row["config_value"]
    kinds: dict[str, int] = {}
    for row in rows("threads"):
        kinds[row["thread_name"]] = kinds.get(row["thread_name"], 0) + 1
    known = {
        "connectstring": f"127.0.0.1:{PORT}",
        "management": management_client.server(SHOW),
        "nodes": management_client.nodes(SHOW, STATUS),
        "servers": (server(1), server(2)),
        "processes": tuple(
            Process(
                int(row["node_id"]), row["node_type"], int(row["process_id"]),
                row["process_name"], row["service_URI"],
            )
            for row in rows("processes")
        ),
        "links": tuple(
            (int(row["node_id"]), int(row["remote_node_id"]), row["type"])
            for row in rows("transporter_details")
            if row["status"] == "CONNECTED"
        ),
        "config": config,
        "memory": {2: (819_200, 268_435_456), 3: (819_200, 268_435_456)},
        "threads": kinds,
    }  # fmt: skip
    return Facts(**(known | changes))
