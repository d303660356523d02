"""The live socket: scenes that pages register, sessions that pull runs, and the binary wire between them."""
