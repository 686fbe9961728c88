"""The lab's own figures: transporters, faults, and the capacity model."""
