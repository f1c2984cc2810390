"""A proxy looks like the object it stands for, as far as calls of public names go, and asks the guest nothing else."""

import copy
import pprint
from typing import Any

import pytest
from hypothesis.vendor.pretty import pretty

from sandbox.guest.wire import Handle
from sandbox.proxy import ModuleProxy, Proxy, handle_of


class Noting:
    """Whoever carries the calls: notes each, answers the number of them."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def call(self, handle: Handle | None, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.calls.append((handle, name, args, kwargs))
        return len(self.calls)


@pytest.fixture(name="guest")
def _guest() -> Noting:
    return Noting()


@pytest.fixture(name="pool")
def _pool(guest: Noting) -> Proxy:
    return Proxy(guest, Handle(3), "pool")


def test_a_method_is_a_call(guest: Noting, pool: Proxy) -> None:
    assert pool.alloc(2, owner="a") == 1
    assert guest.calls == [(Handle(3), "alloc", (2,), {"owner": "a"})]


def test_an_entry_is_a_call_on_the_module(guest: Noting) -> None:
    assert ModuleProxy(guest, ["BlockPool"]).BlockPool(8) == 1
    assert guest.calls == [(None, "BlockPool", (8,), {})]


def test_what_is_no_entry_is_not_there(guest: Noting) -> None:
    solution = ModuleProxy(guest, ["BlockPool", "_private"])
    for name in ("Block", "_private", "__file__"):
        with pytest.raises(AttributeError):
            getattr(solution, name)
    assert guest.calls == []


@pytest.mark.parametrize("name", ["_repr_pretty_", "__array__", "__iter__", "__len__", "_x", "__dict__"])
def test_names_with_an_underscore_are_not_asked_of_the_guest(guest: Noting, pool: Proxy, name: str) -> None:
    with pytest.raises(AttributeError):
        getattr(pool, name)
    assert guest.calls == []


@pytest.mark.parametrize("look", [repr, str, pretty, pprint.pformat, bool, hash, copy.copy, lambda pool: pool == pool])
def test_looking_at_a_proxy_asks_the_guest_nothing(guest: Noting, pool: Proxy, look: Any) -> None:
    look(pool)
    assert guest.calls == []


def test_a_proxy_shows_its_name(pool: Proxy) -> None:
    assert (repr(pool), pretty(pool)) == ("pool", "pool")


def test_proxies_are_equal_to_themselves_alone(guest: Noting, pool: Proxy) -> None:
    assert pool == pool
    assert pool != Proxy(guest, Handle(3), "pool")


def test_a_proxy_takes_no_attributes(pool: Proxy) -> None:
    with pytest.raises(AttributeError):
        pool.size = 3  # type: ignore[misc, method-assign, assignment]


def test_letting_go_of_a_proxy_asks_the_guest_nothing(guest: Noting) -> None:
    proxy = Proxy(guest, Handle(1), "pool")
    assert handle_of(proxy) == Handle(1)
    del proxy
    assert guest.calls == []
