"""The lab's own figures: faults, contrasts and variance, and the capacity model."""
