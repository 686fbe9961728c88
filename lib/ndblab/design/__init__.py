"""What an experiment is: its variants, its sweep, its contrasts; which experiments there are."""
