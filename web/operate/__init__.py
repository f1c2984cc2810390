"""The composition root: what starts, watches and ends the rooms, and the `prefilld` command."""
