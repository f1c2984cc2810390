"""The drills here are material for the judge, not tests of this suite."""

collect_ignore = ["drills"]
