"""What is measured next: contrasts whose claims are open, until they are decided."""
