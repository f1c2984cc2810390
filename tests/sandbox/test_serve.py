"""What a child does with a submission: load it, keep its objects, answer calls, be spared its mischief."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from sandbox.errors import GuestBrokeWire, GuestCrashed, GuestWouldNotLoad, SolutionRaised
from sandbox.link import Link
from sandbox.proxy import ModuleProxy, Proxy
from tests.sandbox.guest_fixture import Agent, loaded, running_agent


@pytest.fixture(name="agent", scope="module")
def _agent() -> Iterator[Agent]:
    with running_agent() as agent:
        yield agent


def ask(agent: Agent, source: str, *args: Any, **kwargs: Any) -> Any:
    """The answer of `f` of a submission."""
    with loaded(agent, source, "f") as link:
        return link.call(None, "f", args, kwargs)


# --- loading


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        ("x = 1\ndef f(:\n", "syntax", "line 2"),
        ("\n\nreturn 1", "syntax", "line 3"),
        ("x = '\0'", "syntax", "null"),
        ("(" * 500 + ")" * 500, "syntax", "solution.py"),
        ("\nimport nothing_of_this_name", "import", "line 2"),
        ("from os import nothing_of_this_name", "import", "line 1"),
        ("def g():\n    return 1 / 0\n\ng()", "raised", "ZeroDivisionError: division by zero (solution.py, line 2)"),
        ("raise KeyboardInterrupt", "raised", "KeyboardInterrupt"),
        ("class Odd(BaseException): pass\nraise Odd('so')", "raised", "Odd: so (solution.py, line 2)"),
        ("import sys\nsys.exit(0)", "exit", "line 2"),
        ("raise SystemExit", "exit", "line 1"),
        (
            "class Pool: pass\nimport os",
            "missing_entry",
            "f must be defined as a class or function; the module defines Pool",
        ),
        ("f = 3", "missing_entry", "no class or function"),
    ],
)
def test_a_source_that_does_not_load_says_why_and_where(agent: Agent, source: str, kind: str, words: str) -> None:
    with pytest.raises(GuestWouldNotLoad) as caught, loaded(agent, source, "f"):
        pass
    assert caught.value.kind == kind
    assert words in caught.value.reason


@pytest.mark.parametrize(
    "deep", ["-" * 200_000, "[" * 200_000, "a" + ".b" * 100_000, "not " * 60_000, "lambda:" * 35_000]
)
def test_a_source_too_deep_for_the_compiler_is_a_syntax_error(agent: Agent, deep: str) -> None:
    with pytest.raises(GuestWouldNotLoad) as caught, loaded(agent, deep + "1", "f"):
        pass
    assert caught.value.kind == "syntax"


@pytest.mark.parametrize("head", ["\ufeff", "# -*- coding: rot13 -*-\n", "\f\n", "# \u202e\n"])
def test_a_source_is_text_whatever_it_says_of_its_encoding(agent: Agent, head: str) -> None:
    assert ask(agent, head + "def f(): return 'é'") == "é"


def test_a_load_message_is_bounded(agent: Agent) -> None:
    with pytest.raises(GuestWouldNotLoad) as caught, loaded(agent, "raise ValueError('é' * 10**6)", "f"):
        pass
    assert len(caught.value.reason.encode()) <= 2048


def test_dataclasses_and_typing_find_their_module(agent: Agent) -> None:
    source = """
from __future__ import annotations
import typing
from dataclasses import dataclass
@dataclass
class Block:
    id: int
    next: Block | None = None
def f():
    return typing.get_type_hints(Block)["id"] is int and Block.__module__
"""
    assert ask(agent, source) == "solution"


def test_a_submission_imports_neither_the_guest_folder_nor_the_repository(agent: Agent) -> None:
    source = """
def f():
    found = []
    for name in ("agent", "errors", "sandbox", "judge", "tests", "conftest", "reference", "test_hidden"):
        try:
            __import__(name)
            found.append(name)
        except ImportError:
            pass
    return found
"""
    assert ask(agent, source) == []


CONTRACT = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Span:
    start: int
    stop: int = 9
"""


@dataclass(frozen=True)
class Span:
    start: int
    stop: int = 9


def test_records_of_the_contract_cross_both_ways(agent: Agent) -> None:
    source = "from contract import Span\ndef f(span): return [Span(span.stop, span.start)]"
    with loaded(agent, source, "f", contract=CONTRACT) as link:
        link.records = {"Span": Span}
        assert link.call(None, "f", (Span(1, 2),), {}) == [Span(2, 1)]


def test_an_impostor_of_a_record_does_not_cross(agent: Agent) -> None:
    source = "class Span: start = 1; stop = 2\ndef f(): return Span()"
    with loaded(agent, source, "f", contract=CONTRACT) as link:
        link.records = {"Span": Span}
        with pytest.raises(GuestBrokeWire, match="Span is not a plain value"):
            link.call(None, "f", (), {})


# --- calls and objects

COUNTER = """
class Counter:
    def __init__(self, start=0): self.n = start
    def add(self, by=1): self.n += by; return self.n
    def me(self): return self
    def twins(self): return [self, Counter(5)]
    def same(self, other): return other is self
    def _secret(self): return 1
def make(): return Counter(7)
"""


@pytest.fixture(name="link")
def _link(agent: Agent) -> Iterator[Link]:
    with loaded(agent, COUNTER, "Counter", "make") as link:
        yield link


@pytest.fixture(name="solution")
def _solution(link: Link) -> ModuleProxy:
    return ModuleProxy(link, ["Counter", "make"])


def test_an_object_keeps_its_state_between_calls(solution: ModuleProxy) -> None:
    counter = solution.Counter(start=3)
    assert (counter.add(), counter.add(by=2)) == (4, 6)


def test_an_object_that_comes_back_is_the_same_proxy(solution: ModuleProxy) -> None:
    counter = solution.Counter()
    assert counter.me() is counter
    first, second = counter.twins()
    assert first is counter
    assert isinstance(second, Proxy)
    assert second.add() == 6


def test_a_function_may_make_an_object_of_an_entry_class(solution: ModuleProxy) -> None:
    assert solution.make().add() == 8


def test_a_proxy_may_be_an_argument(solution: ModuleProxy) -> None:
    one, other = solution.Counter(), solution.Counter()
    assert one.same(one) is True
    assert one.same(other) is False


def test_forgotten_objects_are_let_go(agent: Agent) -> None:
    source = """
import weakref
alive = weakref.WeakSet()
class Thing:
    def __init__(self): alive.add(self)
def count(): return len(alive)
"""
    with loaded(agent, source, "Thing", "count") as link:
        solution = ModuleProxy(link, ["Thing", "count"])
        _ = solution.Thing(), solution.Thing()
        assert solution.count() == 2
        link.forget()
        assert solution.count() == 0


def test_a_missing_method_is_the_submissions_own_error(solution: ModuleProxy) -> None:
    with pytest.raises(SolutionRaised) as caught:
        solution.Counter().nothing_here()
    assert caught.value.name == "AttributeError"


def test_objects_end_at_the_size_of_the_table(agent: Agent) -> None:
    source = "class Thing: pass\ndef f(): return [[Thing() for _ in range(100)] for _ in range(101)]"
    with loaded(agent, source, "f", "Thing") as link, pytest.raises(GuestBrokeWire, match="objects"):
        link.call(None, "f", (), {})


def test_an_answer_is_frozen_when_it_is_given(agent: Agent) -> None:
    source = "shared = []\ndef f():\n    shared.append(len(shared))\n    return shared"
    with loaded(agent, source, "f") as link:
        first = link.call(None, "f", (), {})
        assert link.call(None, "f", (), {}) == [0, 1]
        assert first == [0]


def test_out_parameters_change_here_as_they_did_there(agent: Agent) -> None:
    source = "def f(a, out, *, seen): out.append(a); seen.add(a); return len(out)"
    with loaded(agent, source, "f") as link:
        link.outs = {"f": {"out": 1, "seen": 2}}
        out, seen = [1], {1}
        assert link.call(None, "f", (5, out), {"seen": seen}) == 2
        assert (out, seen) == ([1, 5], {1, 5})


# --- exceptions


@pytest.mark.parametrize(
    "kind",
    [
        *(ValueError, TypeError, KeyError, IndexError, LookupError, ArithmeticError, ZeroDivisionError, OverflowError),
        *(RuntimeError, NotImplementedError, MemoryError),
    ],
)
def test_exceptions_of_the_table_cross_by_exact_name(agent: Agent, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        ask(agent, f"def f(): raise {kind.__name__}('so')")
    assert type(caught.value) is kind
    assert caught.value.args == ("so",)
    assert caught.value.from_solution is True  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("raised", "name"),
    [
        ("type('ValueError', (ValueError,), {})('x')", "solution.ValueError"),
        ("type('ValueError', (Exception,), {'__module__': 'builtins'})('x')", "solution.ValueError"),
        ("type('Skipped', (BaseException,), {'__module__': '_pytest.outcomes'})('x')", "Skipped"),
        ("__import__('unittest').SkipTest('x')", "SkipTest"),
        ("StopIteration('x')", "StopIteration"),
        ("GeneratorExit('x')", "GeneratorExit"),
        ("AssertionError('x')", "AssertionError"),
        ("RecursionError('x')", "RecursionError"),
        ("UnicodeError('x')", "UnicodeError"),
        ("BaseExceptionGroup('x', [KeyboardInterrupt()])", "BaseExceptionGroup"),
    ],
)
def test_any_other_exception_crosses_as_ours(agent: Agent, raised: str, name: str) -> None:
    with pytest.raises(SolutionRaised) as caught:
        ask(agent, f"def f(): raise {raised}")
    assert caught.value.name == name
    assert caught.value.from_solution is True  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "body",
    [
        "__str__ = __repr__ = lambda self: 1 / 0",
        "args = property(lambda self: 1 / 0)",
        "def __str__(self):\n        while True: pass",
        "__class__ = property(lambda self: ValueError)",
        "__getattribute__ = lambda self, name: 1 / 0",
    ],
)
def test_an_exceptions_own_methods_are_not_asked(agent: Agent, body: str) -> None:
    with pytest.raises(SolutionRaised, match="Odd"):
        ask(agent, f"class Odd(Exception):\n    {body}\ndef f(): raise Odd('x')")


@pytest.mark.parametrize(
    "args", ["'x' * 10**7", "10**5000", "'\\ud800' * 5000", "*range(10**5)", "[object()]", "b'x' * 10**6"]
)
def test_messages_are_bounded_text(agent: Agent, args: str) -> None:
    with pytest.raises(ValueError, check=lambda error: type(error) is ValueError) as caught:
        ask(agent, f"def f(): raise ValueError({args})")
    assert len(str(caught.value).encode()) <= 2048


@pytest.mark.parametrize(
    "ending", ["raise SystemExit(0)", "raise KeyboardInterrupt", "__import__('os')._exit(0)", "exit()"]
)
def test_leaving_in_a_call_is_a_crash(agent: Agent, ending: str) -> None:
    with pytest.raises(GuestCrashed):
        ask(agent, f"import sys; exit = sys.exit\ndef f(): {ending}")


# --- hostile submissions hurt only themselves


@pytest.mark.parametrize(
    "answer",
    [
        "object()",
        "(i for i in [])",
        "lambda: 1",
        "1j",
        "type('int', (int,), {})(1)",
        "[[{1: type('L', (list,), {})()}]]",
        "f",
    ],
)
def test_what_is_not_plain_is_refused_with_its_place(agent: Agent, answer: str) -> None:
    with pytest.raises(GuestBrokeWire, match="is not a plain value"):
        ask(agent, f"def f(): return {answer}")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("__import__('functools').reduce(lambda x, _: [x], range(10**5), 0)", "deep"),
        ("[0] * 10**6", "values"),
        ("'x' * (9 * 2**20)", "larger"),
        ("1 << 5000", "bits"),
        ("dict.fromkeys(range(20_000))", "entries"),
        ("'\\ud800'", "surrogate"),
    ],
)
def test_what_is_too_much_is_refused_with_the_reason(agent: Agent, answer: str, why: str) -> None:
    with pytest.raises(GuestBrokeWire, match=why):
        ask(agent, f"def f(): return {answer}")


@pytest.mark.parametrize(
    "mischief",
    [
        "import sys; sys.stdout = sys.stderr = None",
        "import sys; sys.stdout.close()",
        "import os; os.close(0); os.close(1); os.close(2)",
        "import os; os.dup2(2, 1)",
        "import sys; sys.modules.clear()",
        "import sys; sys.setrecursionlimit(60)",
        "import sys; sys.settrace(lambda *_: None)",
        "from signal import *; signal(SIGALRM, lambda *_: None); setitimer(ITIMER_REAL, 0.001, 0.001)",
        "import gc; gc.disable(); gc.set_threshold(1)",
        "import threading; [threading.Thread(target=lambda: None).start() for _ in range(9)]",
        "print(b'\\0\\0\\0\\1N' * 99)",
    ],
)
def test_odd_but_harmless_submissions_are_answered(agent: Agent, mischief: str) -> None:
    assert ask(agent, f"{mischief}\ndef f(x): return [x]", 3) == [3]


@pytest.mark.parametrize(
    "mischief",
    [
        "import builtins; builtins.isinstance = builtins.type = builtins.len = lambda *_: 1",
        "import struct, sys; vars(sys.modules['guest.encoding']).clear()",
        "import os, socket\nfor n in range(3, 99):\n    try: os.close(n)\n    except OSError: pass",
        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    ],
)
def test_a_submission_that_breaks_its_own_guest_gets_a_fault_of_the_guest(agent: Agent, mischief: str) -> None:
    with pytest.raises((GuestCrashed, GuestBrokeWire, GuestWouldNotLoad)):
        assert ask(agent, f"{mischief}\ndef f(x): return [x]", 3) == "never"


def test_a_submission_finds_no_frame_of_the_agent_above_it(agent: Agent) -> None:
    source = """
import sys
def f():
    frame, names = sys._getframe(), []
    while frame:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names
"""
    names = ask(agent, source)
    assert "_fork" not in names
    assert "run" not in names


def test_the_next_child_knows_nothing_of_the_last(agent: Agent) -> None:
    first = (
        "import builtins, sys, os, math\nbuiltins.note = math.note = 1\nopen('note', 'w').close()\ndef f(): return 1"
    )
    second = (
        "import builtins, math, os\ndef f(): return [hasattr(builtins, 'note'), hasattr(math, 'note'), os.listdir('.')]"
    )
    assert ask(agent, first) == 1
    assert ask(agent, second) == [False, False, []]
