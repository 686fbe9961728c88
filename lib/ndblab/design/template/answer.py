"""What was found, in words."""

from ndblab.judging.answers import answers
from ndblab.statistics import contrasts


@answers("@NAME@")
def wide(dataset, verdicts):
    """Say how wide scans compare with the usual ones; without an interval, nothing is certain."""
    ratio = contrasts.ratio(contrasts.log_ratios(dataset.slices, "wide"))
    return [f"wide scans: {ratio.value:.2f} times ({ratio.low:.2f} to {ratio.high:.2f}) the rate"]
