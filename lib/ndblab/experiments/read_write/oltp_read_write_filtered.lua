-- OLTP read/write whose range scans are filtered: they read as many rows, and return about one.
--
-- Everything but the four range scans is that of sysbench's oltp_read_write. The filter is a range
-- of k, whose values are uniform over 1 to the number of rows: a window of one in --range_size of
-- them passes one row of a range on average. FORCE INDEX keeps the scan on the primary key, as k has
-- an index too; two integers are compared, which the data nodes do.

require("oltp_common")

local INT = sysbench.sql.type.INT
local FILTERED = " FROM sbtest%d FORCE INDEX (PRIMARY)"
   .. " WHERE id BETWEEN ? AND ? AND k BETWEEN ? AND ?"
local RANGES = {
   {"simple_ranges", "SELECT c" .. FILTERED},
   {"sum_ranges", "SELECT SUM(k)" .. FILTERED},
   {"order_ranges", "SELECT c" .. FILTERED .. " ORDER BY c"},
   {"distinct_ranges", "SELECT DISTINCT c" .. FILTERED .. " ORDER BY c"},
}

local function prepare_filtered(name, sql)
   for t = 1, sysbench.opt.tables do
      local select = con:prepare(string.format(sql, t))
      local params = {}
      for i = 1, 4 do
         params[i] = select:bind_create(INT)
      end
      select:bind_param(unpack(params))
      stmt[t][name], param[t][name] = select, params
   end
end

local function execute_filtered(name)
   local t = sysbench.rand.uniform(1, sysbench.opt.tables)
   local rows, range = sysbench.opt.table_size, sysbench.opt.range_size
   local window = math.max(1, math.floor(rows / range))
   for _ = 1, sysbench.opt[name] do
      local id = sysbench.rand.default(1, rows)
      local k = sysbench.rand.uniform(1, rows - window + 1)
      local params = param[t][name]
      params[1]:set(id)
      params[2]:set(id + range - 1)
      params[3]:set(k)
      params[4]:set(k + window - 1)
      stmt[t][name]:execute()
   end
end

function prepare_statements()
   if not sysbench.opt.skip_trx then
      prepare_begin()
      prepare_commit()
   end
   prepare_point_selects()
   for _, range in ipairs(RANGES) do
      prepare_filtered(range[1], range[2])
   end
   prepare_index_updates()
   prepare_non_index_updates()
   prepare_delete_inserts()
end

function event()
   if not sysbench.opt.skip_trx then
      begin()
   end
   execute_point_selects()
   for _, range in ipairs(RANGES) do
      execute_filtered(range[1])
   end
   execute_index_updates()
   execute_non_index_updates()
   execute_delete_inserts()
   if not sysbench.opt.skip_trx then
      commit()
   end
end
