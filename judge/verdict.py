"""The closed list of verdicts: one vocabulary for grader, database, pages and command."""

from enum import StrEnum


class Verdict(StrEnum):
    """How a submission, or one test of it, ended."""

    ACCEPTED = "accepted"
    WRONG = "wrong"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT_LIMIT = "output_limit"
    IMPORT_ERROR = "import_error"
    BROKE_WIRE = "broke_wire"
    TOO_SLOW = "too_slow"
    CANCELLED = "cancelled"
    JUDGE_ERROR = "judge_error"


EXIT_STATUS: dict[Verdict, int] = {
    verdict: 0 if verdict is Verdict.ACCEPTED else 3 if verdict is Verdict.JUDGE_ERROR else 1 for verdict in Verdict
}
