-- Range scans of `range_rows` rows; tables are those of sysbench's own scripts.
require("oltp_common")

sysbench.cmdline.options.range_rows = {"Rows that a query reads", 10}

function prepare_statements()
end

function event()
   local first = sysbench.rand.default(1, sysbench.opt.table_size)
   con:query(string.format("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN %d AND %d",
                           first, first + sysbench.opt.range_rows - 1))
end
