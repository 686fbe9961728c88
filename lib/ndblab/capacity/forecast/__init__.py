"""The capacity model held against data: what the notebook and the terminal ask of it.

In: a dataset with a sweep of one MySQL server, and one with several to hold the model against. Out:
a `Forecast`, its figures and their words. It measures nothing, and finds no dataset by itself.

fitting     which runs a model is fitted to, and what makes a dataset unfit
use         how busy each resource is, predicted and measured; demands against their laws
briefly     the same for the brief's own server, of published numbers alone
kept        simulated points, kept on disk
held        a model fitted to one dataset and held against another: tables, figures, words
answer      what `./lab predict` and `./lab size` print
"""

from ndblab.capacity.forecast.comparison import Forecast, of

__all__ = ["Forecast", "of"]
