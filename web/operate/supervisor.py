"""Operating: starts the rooms in order, watches them, restarts what dies, ends them in reverse.

Children come in waves: a wave starts together, and the next one starts when all of it is ready.
"""

import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from web.operate.complaint import Complaint
from web.operate.process import Child, Running, adopt_orphans, kill_descendants, reap_adopted

Say = Callable[[str], None]
_TICK_S = 0.1
_PATIENCE_S = 8.0


class Supervisor:
    def __init__(self, logs: Path, say: Say) -> None:
        self._logs = logs
        self._say = say
        self._running: list[Running] = []
        self._stop = threading.Event()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def listen_to_signals(self) -> None:
        adopt_orphans()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._asked_to_stop)

    def _asked_to_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stop.set()

    def start(self, wave: Sequence[Child]) -> None:
        """Start a wave and wait until all of it is ready; a Complaint names the child that is not."""
        begun = [Running(child, self._logs) for child in wave if not self.stopping]
        self._running += begun
        for running in begun:
            self._await(running)

    def _await(self, running: Running) -> None:
        begun = time.monotonic()
        until, patient = begun + running.child.start_s, False
        while not self.stopping:
            if sentence := running.child.ready(running.pid):
                self._say(f"  {running.child.name:<10}{sentence}")
                return
            if fate := running.fate():
                raise self._did_not_start(running, fate)
            if time.monotonic() > until:
                raise self._did_not_start(running, f"was not ready within {running.child.start_s:.0f} s")
            if not patient and time.monotonic() > begun + _PATIENCE_S:
                patient = True
                self._say(f"  {running.child.name:<10}is still getting ready …")
            self._stop.wait(_TICK_S)

    def _did_not_start(self, running: Running, fate: str) -> Complaint:
        return Complaint(
            f"{running.child.name} {fate} while starting. The last lines of {running.log}:\n{running.last_lines()}\n"
            "Put that right and start again; `.venv/bin/prefilld doctor` looks over this machine."
        )

    def watch(self) -> None:
        """Until somebody asks to stop; a Complaint when a child keeps dying."""
        while not self._stop.wait(_TICK_S):
            for running in self._running:
                if fate := running.fate():
                    self._revive(running, fate)
            reap_adopted(running.pid for running in self._running)

    def _revive(self, running: Running, fate: str) -> None:
        name, allowed = running.child.name, running.child.restarts
        report = f"{name} {fate}. The last lines of {running.log}:\n{running.last_lines()}"
        if running.deaths >= allowed:
            often = f" {allowed + 1} times" if allowed else ""
            raise Complaint(
                f"{report}\n{name} died{often}, so Prefill stops. Submissions are kept; read the log, then start again."
            )
        self._say(f"{report}\nStarting {name} again ({running.deaths + 1} of {allowed}).")
        running.again()
        self._await(running)

    def end(self) -> None:
        """End everything in reverse order, and whatever they left."""
        for running in reversed(self._running):
            running.end()
        self._running.clear()
        kill_descendants()
