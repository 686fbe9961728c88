"""The experiments, one folder each; `discovery` finds them."""
