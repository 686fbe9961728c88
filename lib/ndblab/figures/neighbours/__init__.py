"""Figures of the experiments on what the brief's neighbours claim."""
