"""Warm guests: opened ahead of need by one long-lived thread, handed out once, destroyed after use.

Theory of operation. Opening a guest takes 25 ms (bubblewrap) to 300 ms (Docker); a submission should wait for neither.
One thread, the maker, keeps the wanted number of guests of each class ready; it must be one thread for as long as its
guests live, since bubblewrap ties a guest's life to the thread that started it. A guest is never handed out twice. A
slot whose guest could not be ended is never used again: its user may still have a process.
"""

import logging
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.box import Box, Sandbox, Slot
from sandbox.errors import NoRoom
from sandbox.limits import Limits

log = logging.getLogger(__name__)

FIRST_UID = 64000
UIDS = 1000
LONGEST_PAUSE_S = 10.0


class Slots:
    """Places for guests on this machine, each with a user that no other keeper here uses meanwhile.

    A name in the abstract socket namespace is the claim: the kernel frees it when its holder dies, however that is.
    """

    def __init__(self) -> None:
        self._claims: dict[int, socket.socket | None] = {}
        self._cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self._used: dict[int, Slot] = {}

    def take(self) -> Slot:
        for number in range(UIDS):
            if number not in self._used and self._claim(number):
                slot = Slot(number, FIRST_UID + number, self._emptiest_cpu())
                self._used[number] = slot
                return slot
        raise NoRoom("every slot is in use")

    def give_back(self, slot: Slot) -> None:
        """The claim is kept: the same keeper will want the slot again."""
        self._used.pop(slot.number, None)

    def close(self) -> None:
        for claim in self._claims.values():
            if claim:
                claim.close()

    def _claim(self, number: int) -> bool:
        if self._claims.get(number):
            return True
        if not hasattr(socket, "SO_PEERCRED"):  # no abstract namespace, and no users to keep apart
            return True
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0prefill-user-{FIRST_UID + number}")
        except OSError:
            claim.close()
            return False
        self._claims[number] = claim
        return True

    def _emptiest_cpu(self) -> int | None:
        used = [slot.cpu for slot in self._used.values()]
        return min(self._cpus, key=used.count, default=None)


@dataclass(slots=True)
class Guest:
    """A box in its slot."""

    box: Box
    slot: Slot
    limit_class: str


class Pool:
    """Warm guests of a few limit classes."""

    def __init__(self, sandbox: Sandbox, classes: dict[str, Limits], warm: int, room: int) -> None:
        self.sandbox, self.classes = sandbox, classes
        self._warm, self._room = warm, room
        self._ready: dict[str, deque[Guest]] = {name: deque() for name in classes}
        self._waiting = dict.fromkeys(classes, 0)
        self._opening = 0
        self._out: dict[str, int] = dict.fromkeys(classes, 0)
        self._slots = Slots()
        self._change = threading.Condition()
        self._stopped = False
        self.problem = ""
        self._maker = threading.Thread(target=self._make, name="maker", daemon=True)

    def start(self) -> None:
        self._maker.start()

    def take(self, limit_class: str, wait_s: float) -> Guest:
        """A warm guest, or the next one that gets ready. NoRoom after `wait_s`."""
        deadline = time.monotonic() + wait_s
        with self._change:
            self._waiting[limit_class] += 1
            self._change.notify_all()
            try:
                return self._await(limit_class, deadline)
            finally:
                self._waiting[limit_class] -= 1
                self._change.notify_all()

    def _await(self, limit_class: str, deadline: float) -> Guest:
        while not self._stopped:
            while self._ready[limit_class]:
                guest = self._ready[limit_class].popleft()
                if guest.box.alive():
                    self._out[limit_class] += 1
                    return guest
                self._bury(guest)
            if not self._change.wait(max(0.0, deadline - time.monotonic())) and time.monotonic() >= deadline:
                break
        raise NoRoom(self.problem or f"no guest of class {limit_class} became free in time")

    def retire(self, guest: Guest) -> None:
        """End a guest that was out; its slot is free again once nothing of it is left."""
        gone = _end(guest)
        with self._change:
            self._out[guest.limit_class] -= 1
            if gone:
                self._slots.give_back(guest.slot)
            self._change.notify_all()

    def _bury(self, guest: Guest) -> None:
        """A warm guest that died on its own: an engine restart, an administrator. Held: the condition."""
        log.warning("a warm guest died in its pool (slot %d)", guest.slot.number)
        if _end(guest):
            self._slots.give_back(guest.slot)

    def tidy(self) -> None:
        """Replace warm guests that have died."""
        with self._change:
            for ready in self._ready.values():
                for guest in [one for one in ready if not one.box.alive()]:
                    ready.remove(guest)
                    self._bury(guest)
            self._change.notify_all()

    def _make(self) -> None:
        """The maker: opens what is wanted until stopped; pauses longer after each failure."""
        pause = 0.0
        for limit_class in self._wanted():
            if self._open(limit_class):
                pause = 0.0
                continue
            pause = min(LONGEST_PAUSE_S, pause * 2 or 0.2)
            with self._change:
                self._change.wait_for(lambda: self._stopped, pause)

    def _wanted(self) -> Iterator[str]:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._stopped or self._next() is not None)
                name = self._next()
                if self._stopped or name is None:
                    return
                self._opening += 1
            yield name

    def _next(self) -> str | None:
        """The class that lacks most, if there is room for one more."""
        held = self._opening + sum(map(len, self._ready.values())) + sum(self._out.values())
        lack = {name: self._waiting[name] + self._warm - len(ready) for name, ready in self._ready.items()}
        name = max(lack, key=lambda one: (self._waiting[one] > 0, lack[one]))
        return name if lack[name] > 0 and held < self._room else None

    def _open(self, limit_class: str) -> bool:
        """A failure here is ours (an engine that is down, a full disk): said, and tried again, never fatal."""
        slot = None
        try:
            slot = self._slots.take()
            guest = Guest(self.sandbox.open(self.classes[limit_class], slot), slot, limit_class)
        except Exception as error:  # whatever it was, the next lease must get a reason and not a hang
            self._failed(slot, error)
            return False
        with self._change:
            self._opening -= 1
            self.problem = ""
            late = self._stopped
            if not late:
                self._ready[limit_class].append(guest)
            self._change.notify_all()
        if late:
            _end(guest)
        return True

    def _failed(self, slot: Slot | None, error: Exception) -> None:
        log.error("no guest could be opened: %s", error)
        with self._change:
            self._opening -= 1
            self.problem = f"no guest could be opened: {error}"[:500]
            if slot:
                self._slots.give_back(slot)
            self._change.notify_all()

    def status(self) -> dict[str, dict[str, int]]:
        with self._change:
            return {
                name: {"ready": len(ready), "leased": self._out[name], "waiting": self._waiting[name]}
                for name, ready in self._ready.items()
            }

    def close(self) -> None:
        """Stop making, end what is warm. Guests that are out are their tenants' to retire."""
        with self._change:
            self._stopped = True
            self._change.notify_all()
        self._maker.join()
        for ready in self._ready.values():
            while ready:
                _end(ready.popleft())
        self._slots.close()


def _end(guest: Guest) -> bool:
    try:
        guest.box.kill()
    except Exception:
        log.exception("a guest could not be ended; its slot %d is out of use from now on", guest.slot.number)
        return False
    return True
