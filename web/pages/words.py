"""Pages: each verdict, label and shape in plain words. Pure."""

from dataclasses import dataclass

from judge.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Words:
    """A verdict as a reader meets it: a headline, a short word for a row, one sentence, a tone and a sign."""

    headline: str
    short: str
    sentence: str
    tone: str
    sign: str


def _bad(headline: str, short: str, sentence: str) -> Words:
    return Words(headline, short, sentence, "bad", "✗")


_VERDICTS: dict[Verdict, Words] = {
    Verdict.ACCEPTED: Words("Accepted", "passed", "Every test passed, the hidden ones too.", "good", "✓"),
    Verdict.WRONG: _bad("Wrong answer", "wrong", "Your code ran, and gave an answer that the drill does not allow."),
    Verdict.CRASHED: _bad(
        "Crashed", "crashed", "Your code raised an exception that the tests did not expect, or its process ended."
    ),
    Verdict.TIMEOUT: _bad("Out of time", "out of time", "Your code used up its time before it answered."),
    Verdict.MEMORY: _bad("Out of memory", "out of memory", "Your code asked for more memory than the drill gives."),
    Verdict.OUTPUT_LIMIT: _bad("Too much output", "too much output", "Your code printed more than it may."),
    Verdict.IMPORT_ERROR: _bad(
        "Did not load", "did not load", "Your file could not be loaded, so no test ran. The reason stands below."
    ),
    Verdict.BROKE_WIRE: _bad(
        "Not a plain answer",
        "not a plain answer",
        "An answer was not plain data (numbers, text, lists, dicts and the like), so the tests could not read it.",
    ),
    Verdict.TOO_SLOW: _bad("Too slow", "too slow", "The answers are right, but the cost grows faster than asked for."),
    Verdict.CANCELLED: Words("Cancelled", "cancelled", "This grading was stopped before it ended.", "plain", "–"),
    Verdict.JUDGE_ERROR: Words(
        "Judge error",
        "judge error",
        "Something failed on our side. It does not count against you; please submit again.",
        "odd",
        "!",
    ),
}
_VISIBLE_PASS = Words("Visible tests pass", "passed", "Submit to run the hidden tests too.", "good", "✓")

_LABELS = {
    "reproducible": "It fails the same way each time.",
    "only_after_others": "It passes alone and fails after other tests: look for state that your objects share.",
    "not_deterministic": "The same calls gave different answers when repeated: look for randomness, time, hash order.",
}
_INITIALS = {"kv", "gpu", "cpu", "moe", "lora"}
_SHAPES = {"1-3": "1 to 3 calls", "4-10": "4 to 10 calls", "more": "more than 10 calls"}


def of_verdict(verdict: str, kind: str = "submit") -> Words:
    """The words for one verdict; a run that passes says that only the visible tests were run."""
    known = Verdict(verdict)
    return _VISIBLE_PASS if known is Verdict.ACCEPTED and kind == "run" else _VERDICTS[known]


def of_label(label: str | None) -> str:
    """What repeating the failure in a fresh process told, or nothing."""
    return _LABELS.get(label or "", "")


def of_shape(shape: str | None) -> str:
    """How small the failing case is, as far as that is public."""
    return _SHAPES.get(shape or "", "")


def of_family(slug: str) -> str:
    """A folder's name as a heading: `kv-cache` reads `KV cache`."""
    words = [part.upper() if part in _INITIALS else part for part in slug.split("-")]
    return words[0][:1].upper() + words[0][1:] + "".join(f" {word}" for word in words[1:])
