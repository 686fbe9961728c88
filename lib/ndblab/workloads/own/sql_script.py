"""The script for sysbench that runs a file of the user's SQL.

Each client prepares every statement once, as in sysbench's own scripts, and once for each name that
a placeholder in a name can make. An event is one unit. After an error that sysbench ignores, the
transaction is rolled back and the client draws again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ndblab.formatting import count
from ndblab.workloads.own.placeholder import AGAIN, CHOICE, TEXT, ZIPF, Placeholder
from ndblab.workloads.own.sql_file import BEGIN, Statement, Unit

_SIZES = {"rows": "sysbench.opt.table_size", "tables": "sysbench.opt.tables"}

_HEAD = """\
-- Compiled by the lab: {what}.

sysbench.cmdline.options = {{
   tables = {{"Tables of sysbench", 1}},
   table_size = {{"Rows of each", 10000}},
}}

local uniform, random_text = sysbench.rand.uniform, sysbench.rand.string
local INT, TEXT = sysbench.sql.type.BIGINT, sysbench.sql.type.VARCHAR
local con
local stmt, param, values, zipf = {{}}, {{}}, {{}}, {{}}

-- Prepare a statement whose values have these lengths: 0 is a whole number.
local function prepared(sql, lengths)
   local made, own = con:prepare(sql), {{}}
   for place, length in ipairs(lengths) do
      own[place] = length > 0 and made:bind_create(TEXT, length) or made:bind_create(INT)
   end
   if #own > 0 then
      made:bind_param(unpack(own))
   end
   return made, own
end
"""
_ZIPF = Path(__file__).with_name("zipf.lua")
_CONNECTED = """
function thread_init()
   con = sysbench.sql.driver():connect()
   prepare_all()
end

function thread_done()
   for _, several in ipairs(stmt) do
      for _, each in pairs(several) do
         each:close()
      end
   end
   con:disconnect()
end

local LOST = {[2006] = true, [2011] = true, [2013] = true, [2055] = true}

function sysbench.hooks.before_restart_event(err)
   if LOST[err.sql_errno] then
      prepare_all()
"""
_ROLLBACK = """\
   else
      con:query("ROLLBACK")
"""
_ONE = """
event = units[1]
"""
_SEVERAL = """
local drawn = {{}}
for unit, weight in ipairs({{{weights}}}) do
   for _ = 1, weight do
      drawn[#drawn + 1] = unit
   end
end
local all = #drawn

function event()
   units[drawn[uniform(1, all)]]()
end
"""


def compiled(units: Sequence[Unit]) -> str:
    """Return the text of the script."""
    statements = [statement for unit in units for statement in unit.statements]
    placeholders = [p for statement in statements for p in statement.placeholders]
    numbers = {id(placeholder): number for number, placeholder in enumerate(placeholders, 1)}
    what = f"{count(len(statements), 'statement')}, of which an event runs " + (
        "all" if len(units) == 1 else f"one of {len(units)} units"
    )
    lines = [_HEAD.format(what=what)]
    if any(placeholder.kind == ZIPF for placeholder in placeholders):
        lines += ["", _ZIPF.read_text().rstrip("\n")]
    lines += ["", "local function prepare_all()"]
    for placeholder in placeholders:
        lines += _once(placeholder, numbers[id(placeholder)])
    for unit in units:
        for statement in unit.statements:
            lines += _preparing(statement, unit.named, numbers)
    lines += ["end", _CONNECTED.rstrip("\n")]
    if any(BEGIN.match(statement.text) for statement in statements):
        lines.append(_ROLLBACK.rstrip("\n"))
    lines += ["   end", "end", "", "local units = {}"]
    for number, unit in enumerate(units, 1):
        lines += ["", f"units[{number}] = function()", *_running(unit, numbers), "end"]
    weights = ", ".join(str(unit.weight) for unit in units)
    lines.append((_ONE if len(units) == 1 else _SEVERAL.format(weights=weights)).rstrip("\n"))
    return "\n".join(lines) + "\n"


def literal(text: str) -> str:
    """Return a text as a Lua string literal on one line.

    >>> literal('a "b"' + chr(10))
    '"a \\\\"b\\\\"\\\\n"'
    """
    replaced = text.replace("\\", "\\\\").replace('"', '\\"')
    for character, escape in (("\n", "\\n"), ("\r", "\\r"), ("\0", "\\0")):
        replaced = replaced.replace(character, escape)
    return f'"{replaced}"'


def _once(placeholder: Placeholder, number: int) -> list[str]:
    """Return the lines that a placeholder needs before the first event."""
    if placeholder.kind == CHOICE:
        own = ", ".join(literal(v) if isinstance(v, str) else _whole(v) for v in placeholder.values)
        return [f"   values[{number}] = {{{own}}}"]
    bounds = placeholder.low, placeholder.high
    lines = []
    if placeholder.low != 1 and any(isinstance(bound, str) for bound in bounds):
        low, high = map(_bound, bounds)
        lines = [f'   assert({low} <= {high}, "a low bound above the number of rows or tables")']
    if placeholder.kind == ZIPF:
        drawn = f"zipfian({_number_of(placeholder)}, {placeholder.exponent:g})"
        return [*lines, f"   zipf[{number}] = {drawn}"]
    if placeholder.kind == TEXT:
        return [f'   values[{number}] = string.rep("@", {placeholder.length})']
    return lines


def _preparing(
    statement: Statement, named: Mapping[str, Placeholder], numbers: Mapping[int, int]
) -> list[str]:
    """Prepare a statement for each of the names that it can have, in nested loops."""
    bound = (named.get(p.name, p) for p in statement.placeholders if not p.glued)
    lengths = ", ".join(str(_length(source)) for source in bound)
    sources = [named.get(p.name, p) for p in statement.placeholders if p.glued]
    lines, indent = [f"   stmt[{statement.number}], param[{statement.number}] = {{}}, {{}}"], "   "
    for place, source in enumerate(sources, 1):
        lines.append(f"{indent}for i{place} = 1, {_number_of(source)} do")
        indent += "   "
    parts, place = [], 0
    for piece in statement.pieces:
        if isinstance(piece, str):
            parts.append(literal(piece))
        elif piece.glued:
            place += 1
            parts.append(_value_at(sources[place - 1], numbers, f"i{place}"))
        else:
            parts.append('"?"')
    sql = " .. ".join(parts).replace('" .. "', "")
    at = _flat([f"i{place + 1}" for place in range(len(sources))], sources)
    number = statement.number
    lines.append(f"{indent}stmt[{number}][{at}], param[{number}][{at}] =")
    lines.append(f"{indent}   prepared({sql}, {{{lengths}}})")
    for _ in sources:
        indent = indent[3:]
        lines.append(f"{indent}end")
    return lines


def _running(unit: Unit, numbers: Mapping[int, int]) -> list[str]:
    """Draw the values of each statement of a unit, and execute it."""
    lines = []
    for statement in unit.statements:
        body, places, place, sources = [], [], 0, []
        for placeholder in statement.placeholders:
            source = unit.named.get(placeholder.name, placeholder)
            if placeholder.kind != AGAIN and placeholder.name:
                lines.append(f"   local v_{placeholder.name} = {_drawn(placeholder, numbers)}")
            if placeholder.glued:
                place += 1
                sources.append(source)
                places.append(f"i{place}")
                body.append(f"local i{place} = {_index(placeholder, source, numbers)}")
        at = _flat(places, sources)
        values = [p for p in statement.placeholders if not p.glued]
        if values:
            body.append(f"local p = param[{statement.number}][{at}]")
        for number, placeholder in enumerate(values, 1):
            body.append(_setting(number, placeholder, unit.named, numbers))
        body.append(f"stmt[{statement.number}][{at}]:execute()")
        if len(body) == 1:
            lines.append(f"   {body[0]}")
        else:
            lines += ["   do", *(f"      {line}" for line in body), "   end"]
    return lines


def _setting(
    place: int,
    placeholder: Placeholder,
    named: Mapping[str, Placeholder],
    numbers: Mapping[int, int],
) -> str:
    if placeholder.name:
        source = named[placeholder.name]
        taken = f"v_{placeholder.name}"
        if source.kind == CHOICE:
            taken = f"values[{numbers[id(source)]}][{taken}]"
        return f"p[{place}]:set({taken})"
    if placeholder.kind == TEXT:
        return f"p[{place}]:set_rand_str(values[{numbers[id(placeholder)]}])"
    drawn = _drawn(placeholder, numbers)
    if placeholder.kind == CHOICE:
        drawn = f"values[{numbers[id(placeholder)]}][{drawn}]"
    return f"p[{place}]:set({drawn})"


def _drawn(placeholder: Placeholder, numbers: Mapping[int, int]) -> str:
    """Return the expression that draws a value or, from a list, its place in the list."""
    number = numbers[id(placeholder)]
    if placeholder.kind == CHOICE:
        return f"uniform(1, {len(placeholder.values)})"
    if placeholder.kind == TEXT:
        return f"random_text(values[{number}])"
    low, high = _bound(placeholder.low), _bound(placeholder.high)
    if placeholder.kind == ZIPF:
        return f"zipf[{number}]()" + ("" if low == "1" else f" + {low} - 1")
    small = all(isinstance(b, str) or 0 <= b < 2**32 for b in (placeholder.low, placeholder.high))
    if small:
        return f"uniform({low}, {high})"
    if isinstance(placeholder.low, int) and isinstance(placeholder.high, int):
        return f"uniform(0, {placeholder.high - placeholder.low}) + {low}"
    return f"uniform(0, {high} - {low}) + {low}"


def _whole(number: int) -> str:
    """Return a whole number for LuaJIT, whose ordinary numbers are doubles.

    Up to 2^52, the sum with a number of 32 bits is exact, too.

    >>> _whole(7), _whole(2**60)
    ('7', '1152921504606846976LL')
    """
    return str(number) if abs(number) <= 2**52 else f"{number}LL"


def _index(placeholder: Placeholder, source: Placeholder, numbers: Mapping[int, int]) -> str:
    """Return the expression for the place, from 1, of a value among all possible ones."""
    if not placeholder.name:
        if placeholder.kind == ZIPF:
            return f"zipf[{numbers[id(placeholder)]}]()"
        return f"uniform(1, {_number_of(placeholder)})"
    if source.kind == CHOICE:
        return f"v_{placeholder.name}"
    low = _bound(source.low)
    return f"v_{placeholder.name}" if low == "1" else f"v_{placeholder.name} - {low} + 1"


def _value_at(source: Placeholder, numbers: Mapping[int, int], place: str) -> str:
    if source.kind == CHOICE:
        return f"values[{numbers[id(source)]}][{place}]"
    low = _bound(source.low)
    return place if low == "1" else f"({place} + {low} - 1)"


def _flat(places: Sequence[str], sources: Sequence[Placeholder]) -> str:
    """Return the expression for the place among all names that several placeholders make."""
    flat = ""
    for place, source in zip(places, sources, strict=True):
        flat = f"({flat} - 1) * {_number_of(source)} + {place}" if flat else place
    return flat or "1"


def _number_of(source: Placeholder) -> str:
    if source.kind == CHOICE:
        return str(len(source.values))
    if isinstance(source.low, int) and isinstance(source.high, int):
        return str(source.high - source.low + 1)
    low, high = _bound(source.low), _bound(source.high)
    return high if low == "1" else f"({high} - {low} + 1)"


def _bound(bound: int | str) -> str:
    return _SIZES[bound] if isinstance(bound, str) else _whole(bound)


def _length(source: Placeholder) -> int:
    """Return the length of a bound text in bytes; 0 for a whole number."""
    if source.kind == TEXT:
        return source.length
    texts = [value for value in source.values if isinstance(value, str)]
    return max((len(text.encode()) for text in texts), default=0) or (1 if texts else 0)
