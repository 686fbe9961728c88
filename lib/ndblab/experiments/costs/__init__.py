"""What queries cost in CPU time, by number of MySQL servers and of clients, on undivided CPUs."""
