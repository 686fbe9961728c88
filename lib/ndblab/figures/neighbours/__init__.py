"""Figures of what the brief's neighbours claim."""
