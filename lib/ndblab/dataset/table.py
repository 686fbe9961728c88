"""A table as CSV: bytes of a file to a DataFrame that keeps its schema, and back.

In: bytes, or a DataFrame. Out: the other, or one LabError that names file, line, column and value.
It never repairs a value and never touches a file.
"""

from __future__ import annotations

import csv
import io

import pandas as pd
import pandera.pandas as pa

from ndblab.dataset.schema import (
    COLUMNS_SINCE_2,
    COUNTS,
    MEASURE_AGAIN,
    SCHEMAS,
    check,
    check_names,
)
from ndblab.error import LabError


def parse(table: str, data: bytes, where: str) -> pd.DataFrame:
    """Read one table from the bytes of its file and hold it against its schema.

    Parameters
    ----------
    where : the file's name as the user should read it.

    Raises
    ------
    LabError : a column missing, unknown or of another unit; a line cut off or of another length; a
        value of another type or out of range.
    """
    schema = SCHEMAS[table]
    _check_text(data, where)
    later = COLUMNS_SINCE_2.get(table, {})
    older = schema.remove_columns(list(later)) if later else schema
    if _header(data) == list(older.columns):
        schema = older
    _check_header(schema, data, where)
    _check_lines(schema, data, where)
    types = {name: str(column.dtype) for name, column in schema.columns.items()}
    empty = {n: [""] for n, c in schema.columns.items() if types[n] != "str" or c.nullable}
    try:
        frame = pd.read_csv(io.BytesIO(data), dtype=types, na_values=empty, keep_default_na=False)
    except (ValueError, OverflowError) as error:
        raise _wrong_type(schema, data, where, error) from error
    for name in (name for name in later if name not in frame):
        frame.insert(list(SCHEMAS[table].columns).index(name), name, later[name])
    return check(table, frame, where)


def render(table: str, frame: pd.DataFrame | None, where: str) -> bytes:
    """Write one table as CSV, its columns in the schema's order; without rows, the header alone.

    Types are made the schema's own before the check; ten significant digits are kept.
    """
    schema = SCHEMAS[table]
    names = list(schema.columns)
    if frame is None or frame.empty:
        return (",".join(names) + "\n").encode()
    found = [str(name) for name in frame.columns]
    check_names(schema, sorted(found, key=[*names, *found].index), where)
    try:
        types = {n: c.dtype.type for n, c in schema.columns.items()}
        # Text that is missing would become the word "nan".
        lacking = (n for n, c in schema.columns.items() if c.nullable and str(c.dtype) == "str")
        types |= dict.fromkeys(lacking, object)
        typed = frame[names].astype(types)
        for name in (n for n in names if str(schema.columns[n].dtype) == "int64"):
            if (typed[name] != frame[name]).any():
                raise ValueError(f"{name} is not whole")
    except (ValueError, TypeError, OverflowError) as error:
        raise LabError(
            f"A value for {where} has the wrong type",
            found=error,
            expected=", ".join(f"{n} {c.dtype}" for n, c in schema.columns.items()),
            next_step="This is a fault of the lab, not of your input: please report it.",
        ) from error
    for name in (n for n in names if str(schema.columns[n].dtype) == "str"):
        typed[name] = typed[name].str.replace(r"\s*[\r\n]+\s*", " ", regex=True)
    typed = check(table, typed.reset_index(drop=True), where)
    counts = {name: "Int64" for name in COUNTS if name in names}
    text = typed.astype(counts).to_csv(index=False, float_format="%.10g", lineterminator="\n")
    return text.encode()


def _check_text(data: bytes, where: str) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LabError(
            f"Line {line} of {where} is not text",
            found=f"byte {data[error.start]:#04x}",
            expected="UTF-8",
            next_step=MEASURE_AGAIN,
        ) from error


def _check_header(schema: pa.DataFrameSchema, data: bytes, where: str) -> None:
    check_names(schema, _header(data), where)


def _header(data: bytes) -> list[str]:
    first = data.split(b"\n", 1)[0].decode().rstrip("\r")
    return first.split(",") if first else []


def _check_lines(schema: pa.DataFrameSchema, data: bytes, where: str) -> None:
    lines = data.count(b"\n")
    if not data.endswith(b"\n"):
        rest = data.rpartition(b"\n")[2].decode()[:120]
        raise LabError(
            f"The last line of {where} is cut off",
            found=f"line {lines + 1}: {rest}",
            expected=f"{len(schema.columns)} values and an end of line",
            next_step=MEASURE_AGAIN,
        )
    columns = len(schema.columns)
    if b'"' not in data and data.count(b",") == lines * (columns - 1):
        return
    reader = csv.reader(io.StringIO(data.decode(), newline=""))
    try:
        found = next((len(row) for row in reader if len(row) != columns), None)
    except csv.Error as error:
        raise LabError(
            f"Line {reader.line_num} of {where} is no CSV", found=error, next_step=MEASURE_AGAIN
        ) from error
    if found is not None:
        raise LabError(
            f"Line {reader.line_num} of {where} has another number of values",
            found=found,
            expected=columns,
            next_step=MEASURE_AGAIN,
        )


def _wrong_type(schema: pa.DataFrameSchema, data: bytes, where: str, error: Exception) -> LabError:
    """Find the value that the fast reader stumbled over; only a damaged file pays for this."""
    try:
        words = pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)
    except ValueError:
        return LabError(f"{where} is no CSV", found=error, next_step=MEASURE_AGAIN)
    for name, column in schema.columns.items():
        kind = str(column.dtype)
        if kind == "str":
            continue
        numbers = pd.to_numeric(words[name], errors="coerce")
        bad = numbers.isna() & ~((words[name] == "") & column.nullable)
        if kind == "int64":
            bad |= numbers.mod(1).ne(0)
        if bad.any():
            line = int(bad.to_numpy().argmax())
            return LabError(
                f"Line {line + 2} of {where}, column {name}, has the wrong type",
                found=repr(words[name].iloc[line]),
                expected="a whole number" if kind == "int64" else "a number",
                next_step=MEASURE_AGAIN,
            )
    return LabError(f"{where} cannot be read", found=error, next_step=MEASURE_AGAIN)
