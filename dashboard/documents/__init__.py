"""What the Documents page is made of."""
