"""What was published, and what a dataset says about it.

In: the published claims (`data/brief/`) and a dataset. Out: a verdict on each claim, with a reason;
and an answer to the experiment's question, in words.
It measures nothing; a check that crashes never counts as a pass.
"""
