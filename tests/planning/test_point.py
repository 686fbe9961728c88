"""Names of runs."""

from __future__ import annotations

from ndblab.planning.point import Point


def test_an_id_leaves_out_what_is_at_its_default() -> None:
    """Transporter, workload and variant are part of it only where they differ."""
    assert Point(8, 64).run_id(2) == "s08_c0064_r2"
    assert Point(8, 64, "tcp").run_id(2) == "s08_c0064_r2_tcp"
    assert Point(8, 64, workload="oltp_read_only").run_id(1) == "s08_c0064_r1_oltp_read_only"
    assert Point(8, 64, variant="tcp-clients").run_id(1) == "s08_c0064_r1_tcp-clients"
