"""A submission crosses Redis as plain JSON and is checked when it comes out."""

import json

import pytest

from judge.submission import Kind, Submission

ONE = Submission("s_1", 1, "counter", "abc", "pass\n", Kind.SUBMIT)


def test_a_submission_survives_json() -> None:
    assert Submission.from_json(json.loads(json.dumps(ONE.to_json()))) == ONE


@pytest.mark.parametrize("change", [{"attempt": "1"}, {"attempt": True}, {"source": None}, {"kind": "all"}, {"id": 3}])
def test_a_submission_of_another_shape_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"submission|all"):
        Submission.from_json({**ONE.to_json(), **change})
