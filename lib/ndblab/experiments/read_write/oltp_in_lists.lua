-- Key lookups by IN lists: one SELECT an event, of --in_list different keys of one table.
--
-- The tables are those of sysbench's own scripts. sysbench counts each SELECT as one query; whoever
-- counts lookups multiplies by --in_list.

require("oltp_common")

sysbench.cmdline.options.in_list = {"Number of keys in each IN list", 10}

local INT = sysbench.sql.type.INT

function prepare_statements()
   local keys = sysbench.opt.in_list
   if keys < 1 or keys > sysbench.opt.table_size then
      error("--in_list must be at least 1, and at most --table_size")
   end
   local marks = string.rep("?,", keys - 1) .. "?"
   for t = 1, sysbench.opt.tables do
      local select = con:prepare(
         string.format("SELECT c FROM sbtest%d WHERE id IN (%s)", t, marks))
      local params = {}
      for i = 1, keys do
         params[i] = select:bind_create(INT)
      end
      select:bind_param(unpack(params))
      stmt[t].in_lists, param[t].in_lists = select, params
   end
end

function event()
   local t = sysbench.rand.uniform(1, sysbench.opt.tables)
   local params, drawn = param[t].in_lists, {}
   for i = 1, sysbench.opt.in_list do
      local id
      -- The server looks up a key once, however often a list names it.
      repeat
         id = sysbench.rand.default(1, sysbench.opt.table_size)
      until not drawn[id]
      drawn[id] = true
      params[i]:set(id)
   end
   stmt[t].in_lists:execute()
end
