"""Checks on what the brief's neighbours claim."""
