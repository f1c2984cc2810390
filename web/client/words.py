"""How verdicts, groups and the failing case read in a terminal."""

from typing import Any

import click

WORDS = {
    "accepted": "ACCEPTED",
    "wrong": "WRONG",
    "crashed": "CRASHED",
    "timeout": "OUT OF TIME",
    "memory": "OUT OF MEMORY",
    "output_limit": "TOO MUCH OUTPUT",
    "import_error": "DOES NOT LOAD",
    "broke_wire": "ANSWER NOT PLAIN DATA",
    "too_slow": "TOO SLOW",
    "cancelled": "CANCELLED",
    "judge_error": "JUDGE ERROR",
}
MARKS = {"passed": ("✓", "green"), "failed": ("✗", "red"), "not_reached": ("–", None), "pending": ("·", None)}


def verdict_line(verdict: str, groups: list[dict[str, Any]]) -> str:
    colour = "green" if verdict == "accepted" else "yellow" if verdict in ("judge_error", "cancelled") else "red"
    passed = sum(group["state"] == "passed" for group in groups)
    tally = f"   {passed} of {len(groups)} groups" if groups else ""
    return click.style(WORDS.get(verdict, verdict.upper()), fg=colour, bold=True) + tally


def group_line(group: dict[str, Any]) -> str:
    mark, colour = MARKS.get(group["state"], ("?", None))
    said = "" if group["state"] == "passed" else f"   {_said(group)}"
    return f" {click.style(mark, fg=colour)} {group['key']:<26} {clean(group['title'])}{said}"


def _said(group: dict[str, Any]) -> str:
    if group["state"] == "failed":
        return click.style(str(group.get("verdict") or "failed").replace("_", " "), fg="red")
    return str(group["state"]).replace("_", " ")


def case_text(case: dict[str, Any]) -> str:
    """The failing case as a table: step, call, answer; the first bad step is marked."""
    case = {name: clean(value) if isinstance(value, str) else value for name, value in case.items()}
    lines = [click.style(case["sentence"], bold=True)]
    if case.get("promise") and case["promise"] != case["sentence"]:
        lines.append(f"Promise: {case['promise']}")
    lines += ["", *_steps(case), ""]
    if case.get("expected") is not None:
        label = f"Expected at {case['path']}:" if case.get("path") else "Expected:"
        lines += [f"{label} {case['expected']}", f"{'Got:':<{len(label)}} {case['actual']}"]
    size = f"{case['calls']} calls" if case["calls"] != 1 else "1 call"
    shrunk = f", shrunk from {case['shrunk_from']}" if case.get("shrunk_from") else ""
    label = f"; {case['label'].replace('_', ' ')}" if case.get("label") else ""
    lines.append(f"Case: {size}{shrunk}{label}")
    if case.get("note"):
        lines.append(case["note"])
    if case.get("output"):
        lines += ["Output:", case["output"]]
    return "\n".join(lines)


def _steps(case: dict[str, Any]) -> list[str]:
    width = min(max([len(step["call"]) for step in case["steps"]] + [4]), 56)
    rows = [f"  {'step':<6}{'call':<{width}}  answer"]
    for step in case["steps"]:
        bad = step["n"] == case.get("first_bad_step")
        call, answer = cut(clean(step["call"])), cut(clean(step["answer"] or ""))
        row = f"{'▸' if bad else ' '} {step['n']:<6}{call:<{width}}  {answer}"
        rows.append(click.style(row, fg="red") if bad else row)
    return rows


def cut(text: str, most: int = 240) -> str:
    """A long line without its middle; the whole of it stands in the saved test and in --json."""
    half = most // 2 - 2
    return text if len(text) <= most else f"{text[:half]} … {text[-half:]}"


def clean(text: str) -> str:
    """A stranger's text without the control characters that would drive a terminal."""
    return "".join(char if char in "\n\t" or char.isprintable() else "�" for char in text)
