"""Everything in this folder goes behind the wall, and nothing else does. Standard library only."""
