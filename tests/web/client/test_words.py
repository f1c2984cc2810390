"""What a person reads: the verdict line, the groups, the failing case."""

from judge.verdict import Verdict
from web.client import words

CASE = {
    "sentence": "A block held twice is still held after one free.",
    "promise": "A block held twice is still held after one free.",
    "steps": [
        {"n": 1, "call": "pool = BlockPool(2)", "answer": None, "state": "ok"},
        {"n": 2, "call": "pool.free_order()", "answer": "[1]", "state": "differs"},
    ],
    "first_bad_step": 2,
    "expected": "[]",
    "actual": "[1]",
    "path": "",
    "calls": 2,
    "shrunk_from": 37,
    "label": "reproducible",
    "note": None,
    "output": None,
}


def test_every_verdict_has_a_word():
    assert set(words.WORDS) == {verdict.value for verdict in Verdict}


def test_the_first_bad_step_is_marked():
    marked = [line for line in words.case_text(CASE).splitlines() if "▸" in line]
    assert len(marked) == 1
    assert "pool.free_order()" in marked[0]


def test_the_case_says_how_small_it_became():
    assert "2 calls, shrunk from 37" in words.case_text(CASE)


def test_a_strangers_escape_codes_never_reach_the_terminal():
    hostile = CASE | {"actual": "\x1b]0;owned\x07\x1b[2J", "sentence": "\x1b[31mred"}
    text = words.case_text(hostile)
    assert "\x1b]0" not in text
    assert "\x1b[2J" not in text
    assert "\x1b[31mred" not in text
