"""Operating: what went wrong, in a sentence that says what to do."""


class Complaint(Exception):
    """Something that the person who started Prefill can put right; its text is all that they see."""
