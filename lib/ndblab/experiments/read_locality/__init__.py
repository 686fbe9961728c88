"""Where reads are answered."""
