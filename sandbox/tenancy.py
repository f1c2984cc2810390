"""One lease as the keeper sees it: the guest, its remaining time, and what became of it.

Theory of operation. Nothing that the guest says decides why it died. CPU time and memory are the kernel's counters, the
wall clock is ours, and "the box is gone although none of our limits ended it" is evidence against the host wherever the
sandbox promises that a submission can't end its agent.
"""

import signal
import time
from dataclasses import dataclass

from sandbox.box import Promise
from sandbox.guest_box import GuestGone
from sandbox.lease import Fate
from sandbox.pool import Guest, Pool

CHILD_S = 10.0
SETTLE_S = 2.0
OUTPUT_S = 0.5


@dataclass(frozen=True, slots=True)
class Terms:
    """What one lease may use of its class."""

    cpu_s: float
    wall_s: float


class Tenancy:
    """One guest, leased."""

    def __init__(self, pool: Pool, guest: Guest, terms: Terms) -> None:
        self._pool, self.guest, self._terms = pool, guest, terms
        self._began = time.monotonic()
        self._cpu_before = guest.box.usage().cpu_s
        self._cause: str | None = None

    def watch(self) -> None:
        """End the guest if it is over a limit. Called every few milliseconds."""
        if self._cause is None and (cause := self._overrun()):
            self._cause = cause
            self.guest.box.end()

    def _overrun(self) -> str | None:
        if self.cpu_s() > self._terms.cpu_s:
            return "cpu"
        return "wall" if time.monotonic() - self._began > self._terms.wall_s else None

    def cpu_s(self) -> float:
        return self.guest.box.usage().cpu_s - self._cpu_before

    def child(self) -> tuple[bytes, int]:
        """Nonce and descriptor of a fresh child; the descriptor is the caller's to close."""
        if self._cause is not None:
            raise GuestGone(self._cause)
        nonce, sock = self.guest.box.child(CHILD_S)
        return nonce, sock.detach()

    def fate(self) -> Fate:
        box = self.guest.box
        box.settle(SETTLE_S)
        self.watch()
        output, usage, alive = box.output(OUTPUT_S), box.usage(), box.alive()
        cause, detail = self._judge(alive=alive)
        return Fate(
            box_alive=alive,
            cause=cause,
            detail=detail,
            ended=box.ended.how if box.ended else None,
            number=box.ended.number if box.ended else None,
            cpu_s=round(self.cpu_s(), 4),
            memory_peak_mib=round(usage.memory_peak_mib, 1),
            oom_kills=usage.oom_kills - box.oom_before,
            output=output,
        )

    def _judge(self, *, alive: bool) -> tuple[str | None, str]:
        """The first evidence counts, the strongest first."""
        box = self.guest.box
        if self._cause == "cpu" or (box.ended and (box.ended.how, box.ended.number) == ("signal", signal.SIGXCPU)):
            return "cpu", f"used more than {self._terms.cpu_s:g} s of CPU time"
        if self._cause == "wall":
            return "wall", f"ran longer than {self._terms.wall_s:g} s"
        if box.usage().oom_kills > box.oom_before:
            return "memory", f"used more than {self._pool.classes[self.guest.limit_class].memory_mib} MiB of memory"
        if box.flooded:
            return "output", f"wrote more than {self._pool.classes[self.guest.limit_class].output_kib} KiB of output"
        return (None, box.broke or "") if alive or box.broke else self._lost()

    def _lost(self) -> tuple[str | None, str]:
        if Promise.AGENT in self._pool.sandbox.promises:
            return "host", "the guest is gone, and no limit ended it"
        return None, "the guest ended its own agent"

    def close(self) -> None:
        self._pool.retire(self.guest)
