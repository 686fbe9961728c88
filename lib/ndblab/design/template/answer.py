"""What was found, in words."""

from ndblab.judging.answers import answers
from ndblab.statistics import contrasts


@answers("@NAME@")
def wide(dataset, verdicts):
    """Say how wide scans compare with the usual ones; without an interval, nothing is certain."""
    r = contrasts.ratio(contrasts.log_ratios(dataset.slices, "wide"))
    return [f"wide scans: {r.value:.2f} times ({r.low:.2f} to {r.high:.2f})"] if r.bounded else []
