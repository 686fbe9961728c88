"""What was published, and what a dataset says about it.

It measures nothing; a check that crashes never counts as a pass.
"""
