"""How far costs differ between recordings, as docstring and notebook say it."""

from __future__ import annotations

import json

from ndblab import dataset
from ndblab.design import catalogue
from ndblab.experiments.costs import analysis, experiment
from ndblab.measuring import recorded


def test_costs_differ_between_recordings_as_much_as_is_said():
    """The least and the most of mysqld at one point, on hosts of one kind."""
    costs = []
    for file in recorded.RECORDED.glob("*/*/manifest.json"):
        if file.parents[1].name in ("costs", "thread-balance"):
            data = dataset.read(file.parent, verify=False)
            runs = analysis.each_good_run(data.runs, data.processes)
            here = (runs["servers"] == 8) & (runs["clients"] == 64)
            variant = data.runs.set_index("run_id")["variant"].astype(str) == "default"
            if data.host["cpu_model"] == "AMD EPYC":
                costs.append(runs.loc[here & variant, analysis.SERVER].mean())
    least, most = min(costs), max(costs)
    page = json.loads(catalogue.notebook(catalogue.find("costs")).read_text(encoding="utf-8"))
    told = " ".join("".join("".join(cell["source"]) for cell in page["cells"]).split())
    assert f"mysqld took {least:.0f} and {most:.0f} \N{MICRO SIGN}s of a query" in told
    assert f"a factor of {most / least:.1f}." in told
    assert f"a factor of up to {most / least:.1f} (mysqld" in " ".join(experiment.__doc__.split())
