"""How steady the cluster is: over an hour, and between checkpoints."""
