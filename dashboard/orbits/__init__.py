"""What the Orbits page decides and computes, apart from its layout. Nothing here needs torch."""
