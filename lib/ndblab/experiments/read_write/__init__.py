"""Read/write transactions, filters and IN lists."""
