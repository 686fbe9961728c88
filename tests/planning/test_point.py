"""Names of runs."""

from __future__ import annotations

from itertools import product

from ndblab.planning.point import Point


def test_an_id_leaves_out_what_is_at_its_default() -> None:
    """Transporter, workload and variant are part of it only where they differ."""
    assert Point(8, 64).run_id(2) == "s08_c0064_r2"
    assert Point(8, 64, "tcp").run_id(2) == "s08_c0064_r2_tcp"
    assert Point(8, 64, workload="oltp_read_only").run_id(1) == "s08_c0064_r1_oltp_read_only"
    assert Point(8, 64, variant="tcp-clients").run_id(1) == "s08_c0064_r1_tcp-clients"


def test_every_run_has_its_own_id() -> None:
    """No two runs share one, also when only transporter, workload or repeat differ."""
    points = [
        Point(*values)
        for values in product(
            (1, 2, 16), (1, 64, 4096), ("shm", "tcp"), ("oltp_point_select", "oltp_read_write")
        )
    ]
    ids = [point.run_id(repeat) for point in points for repeat in (1, 2)]
    assert len(ids) == len(set(ids))
