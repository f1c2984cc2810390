"""Every attack in escapes/ against every sandbox that promises to hold it, through a real keeper.

After each one the same keeper must still serve an honest submission: an attack that ends somebody else's guest, or the
keeper, has got through however it ended itself.
"""

import contextlib
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.box import Promise
from sandbox.errors import (
    GuestBrokeWire,
    GuestCrashed,
    GuestFault,
    GuestFlooded,
    GuestOutOfMemory,
    GuestTimeout,
    SolutionRaised,
)
from sandbox.lease import Keeper, Lease
from sandbox.link import Link
from tests.keeper_fixture import keeper_process
from tests.parts import short_dir, wait_for
from tests.sandbox.conftest import MARKED, SMALL
from tests.sandbox.test_contract import NEVER

FOLDER = Path(__file__).parent / "escapes"
TABLE = tomllib.loads((FOLDER / "outcomes.toml").read_text(encoding="utf-8"))
# Stands in this file, which lies where hidden tests lie as far as a guest can tell: it must never be found inside.
CANARY = "canary-7f1d-of-the-hidden-tests"
FAULTS: dict[type[GuestFault], str] = {
    GuestBrokeWire: "broke_wire",
    GuestCrashed: "crashed",
    GuestFlooded: "output_limit",
    GuestOutOfMemory: "memory",
    GuestTimeout: "timeout",
}

CAUSES = {"memory": "memory", "output": "output_limit", "cpu": "timeout", "wall": "timeout"}


@pytest.fixture(scope="module", params=MARKED)
def house(request: pytest.FixtureRequest) -> Iterator[tuple[str, Keeper]]:
    """One keeper a sandbox, for all attacks."""
    with short_dir() as run, keeper_process(request.param, run):
        yield request.param, Keeper(run / "keeper.sock")


@pytest.fixture
def linked() -> Iterator[Callable[[Lease], Link]]:
    with contextlib.ExitStack() as stack:

        def make(lent: Lease) -> Link:
            return stack.enter_context(contextlib.closing(Link(lent.child(), SMALL, on_fault=lent.fate)))

        yield make


def test_every_attack_has_an_outcome() -> None:
    """The table and the folder name the same attacks."""
    assert set(TABLE) == {path.stem for path in FOLDER.glob("*.py")}


@pytest.mark.parametrize("name", sorted(TABLE))
def test_an_attack_is_held(house: tuple[str, Keeper], linked: Callable[[Lease], Link], name: str) -> None:
    """It comes to what the table says, and an honest submission right after it is served."""
    sandbox, keeper = house
    promise = Promise(TABLE[name]["promise"])
    if promise in NEVER[sandbox]:
        assert promise not in keeper.status()["promises"]
        return
    assert promise in keeper.status()["promises"]
    with keeper.lease("small", cpu_s=8, wall_s=60) as lent:
        assert outcome(lent, linked, (FOLDER / f"{name}.py").read_text(encoding="utf-8")) == TABLE[name]["outcome"]
        if lent.fate().box_alive:
            assert honest(linked(lent)) == 42
    with keeper.lease("small", cpu_s=2, wall_s=30) as lent:
        assert honest(linked(lent)) == 42


def outcome(lent: Lease, linked: Callable[[Lease], Link], source: str) -> object:
    """ "contained", how it died, or the list of what it got."""
    link = linked(lent)
    link.load(source, ["attack"])
    try:
        got = link.call(None, "attack", (CANARY,), {})
        # An answer is not all: memory that a grandchild ran out of counts, whatever its parent says.
        cause = lent.fate().cause
    except GuestFault as fault:
        return FAULTS[type(fault)]
    except SolutionRaised as error:  # a flood may see its pipe break a moment before it is killed
        if "Broken pipe" in str(error):
            wait_for(lambda: lent.fate().cause, "nobody noticed the flood")
        return CAUSES.get(lent.fate().cause or "", error)
    return CAUSES.get(cause or "", got or "contained")


def honest(link: Link) -> object:
    link.load("def answer(x): return x * 2", ["answer"])
    return link.call(None, "answer", (21,), {})
