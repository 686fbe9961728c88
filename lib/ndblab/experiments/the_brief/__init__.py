"""What the brief published, and whether it adds up."""
