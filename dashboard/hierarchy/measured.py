"""What was measured, in words; the figures stand in benchmarks/results/hierarchy.json with their command."""

WORDS = ""
