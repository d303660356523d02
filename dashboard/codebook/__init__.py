"""What the Codebook page is made of."""
