"""What a search finds over the brief's configuration: read from a dataset of `./lab tune`."""
