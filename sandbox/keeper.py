"""The keeper: one process a host that holds every guest. Graders lease from it and never touch an engine themselves.

Theory of operation. One connection to the keeper's socket is one lease, so a grader that dies in any way has given its
guest back. Threads: the main one accepts, each connection has one of its own, the maker (pool.py) opens guests, and the
warden looks at the counters of every leased guest each 20 ms. What is asked for is a limit class by name, and less of
it; an image, a flag or a path can't be asked for. On SIGTERM every guest is destroyed and nothing is left: no process,
container, control group, folder or socket. On SIGKILL the guests see their control channel close and exit by
themselves; what they leave on disk is swept by the next keeper on the same folder.
"""

import contextlib
import logging
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.box import Place, Sandbox
from sandbox.choose import choose
from sandbox.errors import NoRoom, SandboxError
from sandbox.ground import clear, prepare
from sandbox.guest_box import GuestGone
from sandbox.limits import LIMIT_CLASSES
from sandbox.lines import Refused, lines, parsed, say, seconds
from sandbox.pool import Pool
from sandbox.tenancy import Tenancy, Terms

log = logging.getLogger("keeper")

WATCH_S = 0.02
TIDY_S = 2.0


@dataclass(frozen=True, slots=True)
class KeeperSettings:
    """Where a keeper lives, what it holds guests with, and how many."""

    place: Place
    sandbox: str = "auto"
    warm: int = 2
    room: int = 16
    classes: tuple[str, ...] = ("small",)

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> "KeeperSettings":
        place = Place(
            run=Path(env["PREFILL_RUN"]).absolute(),
            guest_python=env.get("PREFILL_GUEST_PYTHON", "/usr/bin/python3"),
            guest_image=env.get("PREFILL_GUEST_IMAGE", "prefill-guest:small"),
            base_image=env.get("PREFILL_BASE_IMAGE", "python:3.11-slim-bookworm"),
        )
        return cls(
            place=place,
            sandbox=env.get("PREFILL_SANDBOX", "auto"),
            warm=int(env.get("PREFILL_POOL", "2")),
            room=int(env.get("PREFILL_ROOM", "16")),
            classes=tuple(env.get("PREFILL_CLASSES", "small").split(",")),
        )


class House:
    """The running keeper: a pool, its tenants, and what it is made of."""

    def __init__(self, pool: Pool, why: str) -> None:
        self.pool, self.why = pool, why
        self._tenants: set[Tenancy] = set()
        self._guests: dict[int, socket.socket] = {}
        self._change = threading.Condition()
        self._stopped = threading.Event()

    def watch(self) -> None:
        """The warden: ends whoever is over a limit; sleeps while nobody is leased."""
        tidied = time.monotonic()
        while not self._stopped.wait(WATCH_S):
            with self._change:
                self._change.wait_for(lambda: self._tenants or self._stopped.is_set(), TIDY_S)
            for tenant in list(self._tenants):
                self._look_at(tenant)
            if time.monotonic() - tidied > TIDY_S:
                tidied = time.monotonic()
                self.pool.tidy()

    @staticmethod
    def _look_at(tenant: Tenancy) -> None:
        """One guest that can't be ended must not blind the warden to the others."""
        try:
            tenant.watch()
        except (OSError, SandboxError):
            log.exception("a guest over its limit could not be ended")

    def receive(self, sock: socket.socket) -> None:
        """One connection, from its first line to its end."""
        with self._change:
            self._guests[id(sock)] = sock
        tenant: Tenancy | None = None
        try:
            for line in lines(sock):
                tenant = self._answer(sock, line, tenant)
                if tenant is None:
                    return
        except OSError as error:
            log.info("a connection ended: %s", error)
        finally:
            sock.close()
            self._leave(tenant)
            with self._change:
                del self._guests[id(sock)]
                self._change.notify_all()

    def _leave(self, tenant: Tenancy | None) -> None:
        if tenant:
            self._tenants.discard(tenant)
            tenant.close()

    def _answer(self, sock: socket.socket, line: bytes, tenant: Tenancy | None) -> Tenancy | None:
        """Answer one line; the tenancy goes on, or None."""
        try:
            question = parsed(line)
            match question["op"], tenant:
                case "lease", None:
                    tenant = self._lease(question)
                    say(sock, self._facts(tenant))
                    return tenant
                case "status", None:
                    say(sock, self._status())
                case "child", Tenancy():
                    _child(sock, tenant)
                    return tenant
                case "fate", Tenancy():
                    say(sock, {"ok": True, "fate": tenant.fate().to_json()})
                    return tenant
                case "release", Tenancy():
                    say(sock, {"ok": True})
                    self._leave(tenant)
                case _:
                    raise Refused("bad_request", f"{question['op']!r} can't be asked here")
        except Refused as refusal:
            say(sock, {"ok": False, "error": refusal.code, "detail": str(refusal)})
            return tenant
        return None

    def _lease(self, question: dict[str, Any]) -> Tenancy:
        name = question.get("class")
        if not isinstance(name, str) or name not in self.pool.classes:
            raise Refused("bad_class", f"no class {name!r}; there are: {', '.join(self.pool.classes)}")
        fence = self.pool.classes[name]
        terms = Terms(seconds(question, "cpu_s", fence.cpu_s), seconds(question, "wall_s", fence.wall_s))
        try:
            guest = self.pool.take(name, seconds(question, "wait_s", 300.0))
        except NoRoom as error:
            raise Refused("no_room", str(error)) from error
        tenant = Tenancy(self.pool, guest, terms)
        with self._change:
            self._tenants.add(tenant)
            self._change.notify_all()
        return tenant

    def _facts(self, tenant: Tenancy) -> dict[str, Any]:
        facts = self.pool.sandbox.facts
        return {
            "ok": True,
            "sandbox": facts.sandbox,
            "image": facts.image,
            "python": facts.python,
            "promises": list(facts.promises),
            "cpu": tenant.guest.slot.cpu,
        }

    def _status(self) -> dict[str, Any]:
        facts = self.pool.sandbox.facts
        return {
            "ok": True,
            "sandbox": facts.sandbox,
            "why": self.why,
            "python": facts.python,
            "image": facts.image,
            "promises": list(facts.promises),
            "problem": self.pool.problem,
            "classes": self.pool.status(),
        }

    def close(self) -> None:
        """Hang up on everybody, wait until their guests are gone, then end the warm ones."""
        self._stopped.set()
        with self._change:
            self._change.notify_all()
            for sock in self._guests.values():
                with contextlib.suppress(OSError):  # it hung up first
                    sock.shutdown(socket.SHUT_RDWR)
        self.pool.close()
        with self._change:
            self._change.wait_for(lambda: not self._guests, 20)
        self.pool.sandbox.close()


def _child(sock: socket.socket, tenant: Tenancy) -> None:
    try:
        nonce, fd = tenant.child()
    except GuestGone:
        say(sock, {"ok": False, "error": "guest_gone", "fate": tenant.fate().to_json()})
        return
    try:
        say(sock, {"ok": True, "nonce": nonce.hex()}, fd)
    finally:
        os.close(fd)


def _listen(run: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(run / "keeper.sock"))
    (run / "keeper.sock").chmod(0o660)
    listener.listen(64)
    return listener


def _accept_until(stop: socket.socket, listener: socket.socket, house: House) -> None:
    while True:
        ready, _, _ = select.select([stop, listener], [], [])
        if stop in ready:
            return
        sock, _ = listener.accept()
        threading.Thread(target=house.receive, args=(sock,), daemon=True).start()


def _stop_socket() -> socket.socket:
    """Becomes readable when we are asked to stop."""
    stop, bell = socket.socketpair()

    def ring(_number: int, _frame: object) -> None:
        bell.send(b"x")

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ring)
    return stop


def main(settings: KeeperSettings) -> None:
    """Hold guests until SIGTERM."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))  # fetching and building an image takes minutes
    lock = prepare(settings.place)
    try:
        sandbox, why = choose(settings.sandbox, settings.place)
        log.info("%s", why)
        _run(settings, sandbox, why, _stop_socket())
    finally:
        clear(settings.place)
        (settings.place.run / "keeper.lock").unlink(missing_ok=True)
        os.close(lock)


def _run(settings: KeeperSettings, sandbox: Sandbox, why: str, stop: socket.socket) -> None:
    classes = {name: LIMIT_CLASSES[name] for name in settings.classes}
    house = House(Pool(sandbox, classes, settings.warm, settings.room), why)
    house.pool.start()
    threading.Thread(target=house.watch, name="warden", daemon=True).start()
    with _listen(settings.place.run) as listener:
        try:
            _accept_until(stop, listener, house)
        finally:
            (settings.place.run / "keeper.sock").unlink(missing_ok=True)
            house.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s", stream=sys.stderr)
    try:
        main(KeeperSettings.from_env(os.environ))
    except SandboxError as error:
        sys.exit(f"keeper: {error}")
