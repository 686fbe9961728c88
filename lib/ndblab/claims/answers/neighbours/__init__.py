"""What the experiments on the brief's neighbours found."""
