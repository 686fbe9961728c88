"""@QUESTION@"""

from ndblab.design import grids
from ndblab.design.contrast import ALTERNATION, Contrast
from ndblab.design.experiment import Experiment
from ndblab.design.swept import Swept
from ndblab.design.variant import Variant

WIDE = "wide"


def contrasts(experiment, size, points):
    """Compare both variants, the first over the second, at the most clients, in turns."""
    swept = Swept(size, points, experiment.workload)
    wide, usual = (swept.point(1, max(size.clients), name) for name in (WIDE, "default"))
    return (Contrast("wide", ALTERNATION, wide, usual, (), blocks=4),)


EXPERIMENTS = (
    Experiment(
        "@NAME@",
        "@QUESTION@",
        "notebook.ipynb",
        figures=("@NAME@",),
        claims=(),
        grid=grids.every_variant,
        workload="@NAME@",  # @NAME@.lua
        sizes={"quick": {"servers": (1,), "clients": (4, 16), "repeats": 2}},
        # Or config_ini={"ndbd default": {...}}, my_cnf={...}: clusters of their own, in TWINS.
        variants=(Variant(), Variant(WIDE, options={"range_rows": 100})),
        contrasts=contrasts,
    ),
)
