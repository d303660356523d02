"""What `python -m benchmarks.orbits` measured, in words."""

WORDS = "…"
