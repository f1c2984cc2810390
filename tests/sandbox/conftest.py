"""Every sandbox for real, one parameter each, and a guest of it that runs what a test hands it."""

import json
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox.box import Box, Place, Promise, Sandbox
from sandbox.bubblewrap import BubblewrapSandbox
from sandbox.docker import DockerSandbox
from sandbox.ground import prepare
from sandbox.limits import LIMIT_CLASSES, Limits
from sandbox.link import Link
from sandbox.pool import Slots
from sandbox.process import ProcessSandbox
from tests.keeper_fixture import base_image, keeper
from tests.parts import short_dir

__all__ = ["keeper"]

MAKERS: dict[str, Callable[[Place], Sandbox]] = {
    "docker": DockerSandbox,
    "bubblewrap": BubblewrapSandbox,
    "process": ProcessSandbox,
}
MARKED = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    "process",
]
SMALL = LIMIT_CLASSES["small"]
CHILD_S = 20.0


@dataclass
class Workshop:
    """Where a test run's guests are made: each sandbox is set up once."""

    place: Place
    slots: Slots
    made: dict[str, Sandbox]

    def sandbox(self, name: str) -> Sandbox:
        if name not in self.made:
            self.made[name] = MAKERS[name](self.place)
        return self.made[name]


@pytest.fixture(scope="session")
def workshop() -> Iterator[Workshop]:
    with short_dir() as run:
        place = Place(run, base_image=base_image())
        lock = prepare(place)
        shop = Workshop(place, Slots(), {})
        yield shop
        for sandbox in shop.made.values():
            sandbox.close()
        shop.slots.close()
        os.close(lock)


@pytest.fixture(params=MARKED)
def sandbox(request: pytest.FixtureRequest, workshop: Workshop) -> Sandbox:
    """Each of the three, for real."""
    logging.getLogger("sandbox.process").setLevel(logging.ERROR)
    return workshop.sandbox(request.param)


class Guest:
    """An open box, and one way to use it: load a source into a fresh child and call its `go`."""

    def __init__(self, box: Box, limits: Limits) -> None:
        self.box, self.limits = box, limits
        self._links: list[Link] = []

    def link(self, source: str, *entry: str) -> Link:
        _, sock = self.box.child(CHILD_S)
        link = Link(sock, self.limits)
        self._links.append(link)
        link.load(source, list(entry) or ["go"])
        return link

    def do(self, source: str, *args: Any) -> Any:
        """What `go` of this source answers in a child of its own."""
        return self.link(source).call(None, "go", args, {})

    def close(self) -> None:
        for link in self._links:
            link.close()
        self.box.kill()


@pytest.fixture
def open_guest(sandbox: Sandbox, workshop: Workshop) -> Iterator[Callable[..., Guest]]:
    """Opens guests of the sandbox at hand; all are ended with the test."""
    guests, taken = [], []

    def open_one(limits: Limits = SMALL) -> Guest:
        taken.append(workshop.slots.take())
        guests.append(Guest(sandbox.open(limits, taken[-1]), limits))
        return guests[-1]

    yield open_one
    for guest in guests:
        guest.close()
    for slot in taken:
        workshop.slots.give_back(slot)


@pytest.fixture
def guest(open_guest: Callable[..., Guest]) -> Guest:
    return open_guest()


def promised(sandbox: Sandbox, promise: Promise) -> None:
    """Test only what this sandbox promises on this machine. Under CI=true tests/conftest.py fails on a skip, so the
    combinations that no machine promises are left out by name in test_contract.py instead of being skipped here."""
    if promise not in sandbox.promises:
        pytest.skip(f"{sandbox.name} does not promise {promise} on this machine")


def table(folder: Path) -> dict[str, dict[str, Any]]:
    return dict(json.loads((folder / "outcomes.json").read_text(encoding="utf-8")))
