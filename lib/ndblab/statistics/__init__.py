"""Statistics: from the tables of a dataset to means, intervals, ratios, trends and CPU use.

Pure: it reads no file, starts nothing, and knows no claim.
"""
