"""Captured /proc and /sys of other hosts: a text file each, which says where it was taken from.

A line "PATH: TEXT" is a file of one line; otherwise the lines that begin with "|" are its text.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "captured/hosts"


def unpack(name: str, root: Path) -> Path:
    """Write the files of a captured host below the folder `root`, and return that."""
    texts: dict[str, str] = {}
    path = ""
    for line in (FOLDER / f"{name}.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("|"):
            texts[path] += line[2:] + "\n"
            continue
        path, _, text = line.partition(":")
        texts[path] = f"{text.strip()}\n" if text.strip() else ""
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def folder(root: Path, *paths: str) -> Path:
    """Make further folders of a host, whose files no capture holds, and return `root`."""
    for path in paths:
        (root / path).mkdir(parents=True, exist_ok=True)
    return root
