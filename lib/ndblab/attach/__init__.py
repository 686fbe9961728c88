"""A cluster that runs already: what of it can be measured, and how it is left as it was."""
