"""What the network between clients, servers and data nodes costs."""
