"""A cluster that already runs: what can be measured on it, and how it is left as it was."""
