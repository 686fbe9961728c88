"""The script for sysbench that replays the statements of a slow log, and the data that it reads.

A client replays one connection after the other, each in its order, and begins again at the end.
Clients share the connections among themselves; if there are more clients than connections, several
replay the same one, from different places. Statements are sent as text, as they stand in the log,
in the databases of its `use` lines if these exist.
"""

from __future__ import annotations

from ndblab.formatting import count
from ndblab.workloads.own.slow_log import Sample
from ndblab.workloads.own.sql_script import literal

_SCRIPT = """\
-- Compiled by the lab: {what}.

sysbench.cmdline.options = {{
   tables = {{"Tables of sysbench", 1}},
   table_size = {{"Rows of each", 10000}},
}}

-- Of each connection, how many bytes and statements follow; of each statement, how many bytes, and
-- the number of its database if there are any.
local DATA = {data}
local DATABASES = {{{databases}}}
local con
local statements, at, all = {{}}, 0, 0
local places, place = {{}}, nil

function thread_init()
   con = sysbench.sql.driver():connect()
   local file = assert(io.open(DATA, "rb"))
   local connections = file:read("*n", 1)
   local clients, mine = sysbench.opt.threads, sysbench.tid
   local step = math.min(clients, connections)
   for number = 0, connections - 1 do
      local bytes, several = file:read("*n", "*n", 1)
      if number % step == mine % step then
         for _ = 1, several do
            local length, after = file:read("*n", 1)
            if after == " " then
               places[#statements + 1] = file:read("*n", 1)
            end
            statements[#statements + 1] = file:read(length)
         end
      else
         file:seek("cur", bytes)
      end
   end
   file:close()
   all = #statements
   if clients > connections then
      at = {start}
   end
end

function thread_done()
   con:disconnect()
end

function event()
   at = at % all + 1
   if places[at] ~= place then
      place = places[at]
      con:query("USE " .. DATABASES[place])
   end
   con:query(statements[at])
end
"""
_ROLLBACK = """
function sysbench.hooks.before_restart_event()
   con:query("ROLLBACK")
end
"""
_SPREAD = "math.floor(all * mine / clients)"


def quoted_name(name: str) -> str:
    """Return a name quoted for SQL, whatever it contains.

    >>> quoted_name("my shop")
    '`my shop`'
    """
    return "`" + name.replace("`", "``") + "`"


def packed(sample: Sample) -> bytes:
    """Return the data of a sample, the longest connections first, so that clients share evenly."""
    numbers = {name: b" %d" % number for number, name in enumerate(sample.databases, 1)}
    data = bytearray(b"%d\n" % len(sample.connections))
    for entries in sorted(sample.connections.values(), key=len, reverse=True):
        own = bytearray()
        for entry in entries:
            statement = entry.statement.encode("utf-8", "surrogateescape")
            number = numbers.get(entry.database, b"")
            own += b"%d%s\n%s\n" % (len(statement), number, statement)
        data += b"%d %d\n%s" % (len(own), len(entries), own)
    return bytes(data)


def compiled(sample: Sample, path: str, writes: bool) -> str:
    """Return the text of the script, which reads the data at this path.

    With `writes`, clients of one connection all begin at its first statement, which keeps
    transactions whole.
    """
    what = f"{count(sample.statements, 'statement')} of "
    what += count(len(sample.connections), "connection")
    start = "0" if writes else _SPREAD
    databases = ", ".join(literal(quoted_name(name)) for name in sample.databases)
    text = _SCRIPT.format(what=what, data=literal(path), start=start, databases=databases)
    return text + (_ROLLBACK if writes else "")
