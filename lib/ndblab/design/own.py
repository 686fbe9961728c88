"""Writes an experiment of the user's own: a folder that works at once, ready to be changed."""

from __future__ import annotations

import re
from pathlib import Path

from ndblab import discovery
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.workloads import registry, sysbench

_TEMPLATE = Path(__file__).with_name("template")
_DATASETS = ("compare", "tune")
"""Names under which the lab keeps comparisons and searches."""
_QUESTION = "What do wider range scans cost?"


def write(folder: Path) -> list[Path]:
    """Write the files of a new experiment, which has the name of its folder; return their paths.

    LabError if the folder exists, or its name cannot be the name of a new experiment.
    """
    name = folder.resolve().name
    if folder.exists():
        raise LabError(
            "The folder of a new experiment must not exist",
            found=folder,
            next_step="Choose another name, or remove the folder.",
        )
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        raise LabError(
            "This name cannot be the name of an experiment",
            found=name,
            expected="lower-case letters, digits and underscores, a letter first",
            next_step="Try: ./lab new mine",
        )
    taken = {*_DATASETS, *catalogue.every(), *discovery.names()}
    taken |= {*registry.names(), *sysbench.SCRIPTS}
    if discovery.file(f"{name}.lua") or not taken.isdisjoint({name, name.replace("_", "-")}):
        raise LabError(
            "The lab has something of this name",
            found=name,
            next_step="Choose another name.",
        )
    folder.mkdir(parents=True)
    # If moved among the lab's own experiments, the folder is found only if it is a package.
    written = [folder / "__init__.py"]
    written[0].write_text(f'"""{_QUESTION}"""\n')
    for template in sorted(_TEMPLATE.iterdir()):
        if not template.is_file():
            continue
        file = folder / (f"{name}.lua" if template.suffix == ".lua" else template.name)
        text = template.read_text().replace("@NAME@", name).replace("@QUESTION@", _QUESTION)
        file.write_text(text)
        written.append(file)
    return written
