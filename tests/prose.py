"""Sentences of prose in Markdown, and those that are too long to be read once."""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_WORDS = 30

# Neither a colon nor a semicolon ends a sentence.
END = re.compile(r"(?<=[.!?])[)\"*_]*\s+")
NOT_PROSE = re.compile(
    r"```.*?```|<!--.*?-->|<[^>]+>|^(?:\||    |#)[^\n]*$", re.DOTALL | re.MULTILINE
)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]*`")
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s", re.MULTILINE)


def sentences(markdown: str) -> Iterator[str]:
    """Give the sentences of prose: without code, tables, headings and targets of links."""
    text = LINK.sub(r"\1", CODE.sub("code", NOT_PROSE.sub("", markdown)))
    for paragraph in re.split(r"\n\s*\n", ITEM.sub("\n\n", text)):
        yield from END.split(" ".join(paragraph.split()))


def too_long(markdown: str) -> list[str]:
    """Return the sentences of more words than can be read once."""
    return [s for s in sentences(markdown) if len(re.findall(r"[\w%][^\s]*", s)) > MOST_WORDS]
