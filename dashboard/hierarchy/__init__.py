"""What the Hierarchy page is made of."""
