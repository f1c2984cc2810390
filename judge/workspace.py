"""What a user is given to work on a drill: plain files that `pytest` alone can run. Reads only our own source.

The workspace's `conftest.py` is made of the very code that compares and loads in the grader, so a test that passes in
one place passes in the other. Nothing of the drill but its statement, stub, contract and visible tests goes in.
"""

import ast
import inspect
from collections.abc import Mapping
from types import ModuleType

from judge import same, siblings

HEADER = '''"""Fixtures for the tests in this folder: `solution`, `same`, `drill`. Made by Prefill; do not edit."""
'''
FIXTURES = '''
HERE = Path(__file__).resolve().parent

try:
    from hypothesis import HealthCheck, settings
except ImportError:
    pass
else:
    settings.register_profile(
        "prefill",
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    settings.load_profile("prefill")


@pytest.fixture
def solution():
    """Your `solution.py`, loaded anew for each test, as the judge does it."""
    return load_file(HERE / "solution.py", "solution")


@pytest.fixture
def drill():
    """The other files of this folder: `drill.contract`, where the drill has one."""
    return Siblings(HERE)


@pytest.fixture
def same():
    """The judge's own comparison: strict in value and in type."""
    return Same()
'''
# So that a folder inside somebody's project does not take that project's settings.
PYTEST = "[pytest]\ntestpaths = tests\n"
MINE = '''"""Your own tests. They run with `pytest` and `prefill test`; the judge does not read them."""


def test_something(solution, same):
    """Say here what must be true, then check it with `same(answer, expected)`."""
'''
AGENTS = """# {title}: notes for coding agents

- `README.md` is the task. `solution.py` is the only file that is submitted.
- `prefill test` (or `pytest`) runs `tests/`; it needs no network. Put tests of your own into `tests/test_mine.py`.
- `prefill submit` sends `solution.py` to the judge and prints one verdict; `--json` is for programs. It exits with
  0 accepted, 1 not accepted, 2 usage, 3 the judge's or the network's fault, 4 not signed in, 5 locked, 6 quota.
- `prefill why` shows the smallest failing case, where it may be shown.
- Do not edit `conftest.py` or `tests/test_visible.py`: the judge has its own.
- This folder is for practice. Unless the person asks for an answer, help with hints, tests and explanations.
"""


def bundle(title: str, texts: Mapping[str, str]) -> dict[str, str]:
    files = {
        "README.md": texts["README.md"],
        "solution.py": texts["stub.py"],
        "conftest.py": conftest(),
        "pytest.ini": PYTEST,
        "tests/test_visible.py": texts["test_visible.py"],
        "tests/test_mine.py": MINE,
        "AGENTS.md": AGENTS.format(title=title),
    }
    if "contract.py" in texts:
        files["contract.py"] = texts["contract.py"]
    return files


def conftest() -> str:
    """One file: imports of both modules, their bodies, the fixtures."""
    imports = {"import pytest"}
    bodies = []
    for module in (siblings, same):
        found, body = _parted(module)
        imports |= found
        bodies.append(body)
    return HEADER + "\n" + "\n".join(sorted(imports)) + "\n" + "\n".join(bodies) + "\n" + FIXTURES


def _parted(module: ModuleType) -> tuple[set[str], str]:
    source = inspect.getsource(module)
    tree = ast.parse(source)
    lines = source.splitlines()
    imports = {ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)}
    last = max(node.end_lineno or 0 for node in tree.body[:1] + tree.body if _is_head(node))
    return imports, "\n".join(lines[last:])


def _is_head(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)
