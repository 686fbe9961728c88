"""Statistics: from the tables of a dataset to means, intervals, ratios, trends and CPU use.

In: data frames as `dataset` declares them. Out: data frames and numbers with confidence intervals.
Pure: it reads no file, starts nothing, and knows no claim.
"""
