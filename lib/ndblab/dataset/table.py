"""A table as CSV: bytes of a file to a DataFrame that obeys its schema, and back.

An error names file, line, column and value. No value is ever repaired.
"""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Callable, Mapping
from typing import BinaryIO

import numpy as np
import pandas as pd

from ndblab.dataset.column import Column
from ndblab.dataset.schema import COUNTS, SCHEMAS, Schema, damaged
from ndblab.error import LabError

_CHUNK, _PART_BYTES = 20_000, 1 << 20
"""Rows that are parsed at once, and bytes that are counted at once."""


def parse(table: str, text: bytes, where: str) -> pd.DataFrame:
    """Read one table from the text of its file; otherwise as `read`."""
    return read(table, lambda: io.BytesIO(text), where)


def read(table: str, opened: Callable[[], BinaryIO], where: str) -> pd.DataFrame:
    """Read one table from its file and check it against its schema.

    LabError if a column is missing, unknown or in another unit, a line is cut off or has the wrong
    number of values, or a value has the wrong type or is out of range.

    Parameters
    ----------
    opened : opens the text of the file. The text is read in pieces, as the whole can be as large as
        the table.
    where : the file's name as the user should read it.
    """
    schema = SCHEMAS[table]
    columns = schema.columns
    with opened() as stream:
        header = _header(stream.readline())
    lines, regular = _counted(opened, len(columns))
    if header != list(columns) or not regular:
        with opened() as stream:
            text = stream.read()
        _check_text(text, where)
        _check_names(list(columns), header, where)
        _check_lines(len(columns), text, where)
    try:
        frame = _typed(columns, opened, lines)
    except (ValueError, OverflowError) as error:
        with opened() as stream:
            text = stream.read()
        _check_text(text, where)
        raise _wrong_type(schema, text, where, error) from error
    return check(table, frame, where)


def _counted(opened: Callable[[], BinaryIO], columns: int) -> tuple[int, bool]:
    """Return the number of lines, and whether each has `columns` values, none of them quoted."""
    last, counts = b"", dict.fromkeys(b'\n,"', 0)
    with opened() as stream:
        while part := stream.read(_PART_BYTES):
            last = part[-1:]
            for byte in counts:
                counts[byte] += part.count(byte)
    lines, commas, quotes = counts.values()
    return lines, last == b"\n" and not quotes and commas == lines * (columns - 1)


def _typed(
    columns: Mapping[str, Column], opened: Callable[[], BinaryIO], lines: int
) -> pd.DataFrame:
    """Read at most `lines` rows in chunks, so that no large array exists twice."""
    types = {name: column.dtype for name, column in columns.items()}
    empty = {n: [""] for n, c in columns.items() if c.dtype != "str" or c.empty}
    rows, whole = 0, {n: np.empty(lines, object if t == "str" else t) for n, t in types.items()}
    with opened() as stream:
        for chunk in pd.read_csv(
            stream, dtype=types, na_values=empty, keep_default_na=False, chunksize=_CHUNK
        ):
            for name, values in whole.items():
                values[rows : rows + len(chunk)] = chunk[name]
            rows += len(chunk)
    return pd.DataFrame({name: values[:rows] for name, values in whole.items()}, copy=False)


def empty(table: str) -> pd.DataFrame:
    """Return a table without rows, its columns typed."""
    return _empty(table).copy()


def row(table: str, **given: object) -> pd.DataFrame:
    """Return a table of one row; columns that are not given are empty."""
    return pd.DataFrame([{**dict.fromkeys(SCHEMAS[table].columns, np.nan), **given}])


@functools.cache
def _empty(table: str) -> pd.DataFrame:
    return parse(table, render(table, None, table), table)


def render(table: str, frame: pd.DataFrame | None, where: str) -> bytes:
    """Write one table as CSV, its columns in the schema's order; without rows, the header alone.

    Values are converted to the schema's types before the check, with ten significant digits.
    """
    columns = SCHEMAS[table].columns
    names = list(columns)
    if frame is None or frame.empty:
        return (",".join(names) + "\n").encode()
    given = [str(name) for name in frame.columns]
    _check_names(names, sorted(given, key=[*names, *given].index), where)
    try:
        # Missing text stays an object, as it would become the word "nan".
        typed = frame[names].astype(
            {n: object if c.empty and c.dtype == "str" else c.dtype for n, c in columns.items()}
        )
        for name in (n for n, c in columns.items() if c.dtype == "int64"):
            if (typed[name] != frame[name]).any():
                raise ValueError(f"{name} is not whole")
    except (ValueError, TypeError, OverflowError) as error:
        raise LabError(
            f"A value for {where} has the wrong type",
            found=error,
            expected=", ".join(f"{name} {column.dtype}" for name, column in columns.items()),
            next_step="This is a bug in the lab; please report it.",
        ) from error
    for name in (n for n, c in columns.items() if c.dtype == "str"):
        typed[name] = typed[name].str.replace(r"\s*[\r\n]+\s*", " ", regex=True)
    typed = check(table, typed.reset_index(drop=True), where)
    counts = {name: "Int64" for name in COUNTS if name in names}
    text = typed.astype(counts).to_csv(index=False, float_format="%.10g", lineterminator="\n")
    return text.encode()


def check(table: str, frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """Return the table as it is; LabError names the first value out of range."""
    schema = SCHEMAS[table]
    for name, column in schema.columns.items():
        for bad, expected in column.faults(frame[name]):
            if bad.any():
                value = frame[name].loc[bad].iloc[0]
                raise _broken(bad, f"{where}, column {name},", _shown(value), expected)
    if schema.rule is not None and not (holds := schema.rule[0](frame)).all():
        raise _broken(~holds, where, None, schema.rule[1])
    return frame


def _broken(bad: pd.Series, where: str, value: str | None, expected: str) -> LabError:
    line = int(bad.to_numpy().argmax()) + 2
    return damaged(f"Line {line} of {where} breaks its schema", value, expected)


def _shown(value: object) -> str:
    if pd.isna(value):
        return "no value"
    return repr(value) if isinstance(value, str) else f"{value:g}"


def _check_names(expected: list[str], header: list[str], where: str) -> None:
    """Raise a LabError that distinguishes a missing column from one in another unit."""
    if header == expected:
        return
    missing = [name for name in expected if name not in header]
    unknown = [name for name in header if name not in expected]
    units = {name.rpartition("_")[0]: name for name in unknown if "_" in name}
    for quantity, _, unit in (name.rpartition("_") for name in missing):
        if quantity in units:
            raise LabError(
                f"{where} has a column in another unit",
                found=units[quantity],
                expected=f"{quantity}_{unit}",
                next_step=f"Convert the column to {unit} and name it {quantity}_{unit}.",
            )
    if missing:
        present = ", ".join(header) or "no header"
        raise damaged(f"{where} lacks a column", present, ", ".join(missing))
    strange = ", ".join(unknown or header)
    raise damaged(f"{where} has other columns than its schema", strange, ", ".join(expected))


def _check_text(data: bytes, where: str) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"byte {data[error.start]:#04x}"
        raise damaged(f"Line {line} of {where} is not text", byte, "UTF-8") from error


def _header(line: bytes) -> list[str]:
    first = line.decode(errors="replace").rstrip("\r\n")
    return first.split(",") if first else []


def _check_lines(columns: int, data: bytes, where: str) -> None:
    lines = data.count(b"\n")
    if not data.endswith(b"\n"):
        rest = data.rpartition(b"\n")[2].decode()[:120]
        whole = f"{columns} values and an end of line"
        raise damaged(f"The last line of {where} is cut off", f"line {lines + 1}: {rest}", whole)
    if b'"' not in data and data.count(b",") == lines * (columns - 1):
        return
    reader = csv.reader(io.StringIO(data.decode(), newline=""))
    try:
        number = next((len(row) for row in reader if len(row) != columns), None)
    except csv.Error as error:
        raise damaged(f"Line {reader.line_num} of {where} is not CSV", error) from error
    if number is not None:
        line = f"Line {reader.line_num} of {where}"
        raise damaged(f"{line} has another number of values", number, columns)


def _wrong_type(schema: Schema, data: bytes, where: str, error: Exception) -> LabError:
    """Find the value that the fast reader stumbled over; only a damaged file pays for this."""
    try:
        words = pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)
    except ValueError:
        return damaged(f"{where} is not CSV", error)
    for name, column in schema.columns.items():
        if column.dtype == "str":
            continue
        numbers = pd.to_numeric(words[name], errors="coerce")
        bad = numbers.isna() & ~((words[name] == "") & column.empty)
        if column.dtype == "int64":
            bad |= numbers.mod(1).ne(0)
        if bad.any():
            line = int(bad.to_numpy().argmax())
            return damaged(
                f"Line {line + 2} of {where}, column {name}, has the wrong type",
                repr(words[name].iloc[line]),
                "a whole number" if column.dtype == "int64" else "a number",
            )
    return damaged(f"{where} cannot be read", error)
