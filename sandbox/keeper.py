"""The keeper: one process a host that holds every guest. Graders lease from it and never touch an engine themselves.

Theory of operation. One connection to the keeper's socket is one lease, so a grader that dies in any way has given its
guest back. Threads: the main one accepts, each connection has one of its own, the maker (pool.py) opens guests, and the
warden looks at the counters of every leased guest each 20 ms. What is asked for is a limit class by name, and less of
it; an image, a flag or a path can't be asked for. On SIGTERM every guest is destroyed and nothing is left: no process,
container, control group, folder or socket. On SIGKILL the guests see their control channel close and exit by
themselves; what they leave on disk is swept by the next keeper on the same folder.
"""

import contextlib
import fcntl
import json
import logging
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.box import Place, Sandbox
from sandbox.choose import choose
from sandbox.door import GuestGone
from sandbox.errors import NoRoom, SandboxError
from sandbox.limits import LIMIT_CLASSES
from sandbox.pool import Pool
from sandbox.tenancy import Tenancy, Terms

log = logging.getLogger("keeper")

LINE = 4096
WATCH_S = 0.02
TIDY_EVERY = 100
GUEST = Path(__file__).parent / "guest"
LONGEST_PATH = 107 - len("/g/0123456789abcdef/s")


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


class Refused(Exception):
    """A question that the keeper does not answer; `code` is for programs, the text for people."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class House:
    """The running keeper: a pool, its tenants, and what it is made of."""

    def __init__(self, pool: Pool, why: str) -> None:
        self.pool, self.why = pool, why
        self._tenants: set[Tenancy] = set()
        self._guests: dict[int, socket.socket] = {}
        self._change = threading.Condition()
        self._stopped = threading.Event()

    def watch(self) -> None:
        """The warden: ends whoever is over a limit."""
        rounds = 0
        while not self._stopped.wait(WATCH_S):
            for tenant in list(self._tenants):
                self._look_at(tenant)
            rounds += 1
            if rounds % TIDY_EVERY == 0:
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
            for line in _lines(sock):
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
            question = _question(line)
            match question["op"], tenant:
                case "lease", None:
                    tenant = self._lease(question)
                    _say(sock, self._facts(tenant))
                    return tenant
                case "status", None:
                    _say(sock, self._status())
                case "child", Tenancy():
                    _child(sock, tenant)
                    return tenant
                case "fate", Tenancy():
                    _say(sock, {"ok": True, "fate": tenant.fate().to_json()})
                    return tenant
                case "release", Tenancy():
                    _say(sock, {"ok": True})
                    self._leave(tenant)
                case _:
                    raise Refused("bad_request", f"{question['op']!r} can't be asked here")
        except Refused as refusal:
            _say(sock, {"ok": False, "error": refusal.code, "detail": str(refusal)})
            return tenant
        return None

    def _lease(self, question: dict[str, Any]) -> Tenancy:
        name = question.get("class")
        if not isinstance(name, str) or name not in self.pool.classes:
            raise Refused("bad_class", f"no class {name!r}; there are: {', '.join(self.pool.classes)}")
        fence = self.pool.classes[name]
        terms = Terms(_number(question, "cpu_s", fence.cpu_s), _number(question, "wall_s", fence.wall_s))
        try:
            guest = self.pool.take(name, _number(question, "wait_s", 300.0))
        except NoRoom as error:
            raise Refused("no_room", str(error)) from error
        tenant = Tenancy(self.pool, guest, terms)
        self._tenants.add(tenant)
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
            for sock in self._guests.values():
                with contextlib.suppress(OSError):  # it hung up first
                    sock.shutdown(socket.SHUT_RDWR)
        self.pool.close()
        with self._change:
            self._change.wait_for(lambda: not self._guests, 20)
        self.pool.sandbox.close()


def _lines(sock: socket.socket) -> Iterator[bytes]:
    pending = b""
    while part := sock.recv(LINE):
        *lines, pending = (pending + part).split(b"\n")
        if len(pending) > LINE:
            return
        yield from lines


def _question(line: bytes) -> dict[str, Any]:
    try:
        question = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refused("bad_request", "not a line of JSON") from error
    if not isinstance(question, dict) or not isinstance(question.get("op"), str):
        raise Refused("bad_request", 'not an object with an "op"')
    return question


def _number(question: dict[str, Any], name: str, most: float) -> float:
    value = question.get(name, most)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise Refused("bad_request", f"{name} must be a number of seconds, not {value!r}")
    return min(float(value), most)


def _say(sock: socket.socket, answer: dict[str, Any], fd: int | None = None) -> None:
    line = json.dumps(answer).encode() + b"\n"
    if fd is None:
        sock.sendall(line)
    else:
        sent = socket.send_fds(sock, [line], [fd])
        sock.sendall(line[sent:])


def _child(sock: socket.socket, tenant: Tenancy) -> None:
    try:
        nonce, fd = tenant.child()
    except GuestGone:
        _say(sock, {"ok": False, "error": "guest_gone", "fate": tenant.fate().to_json()})
        return
    try:
        _say(sock, {"ok": True, "nonce": nonce.hex()}, fd)
    finally:
        os.close(fd)


def prepare(place: Place) -> int:
    """Make the runtime folder ours alone: a lock, no leftovers, a copy of the guest code that any user can read."""
    if len(str(place.run)) > LONGEST_PATH:
        raise SandboxError(f"PREFILL_RUN is too long for a socket's path: at most {LONGEST_PATH} bytes, {place.run}")
    place.run.mkdir(parents=True, exist_ok=True)
    place.run.chmod(0o711)
    lock = os.open(place.run / "keeper.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise SandboxError(f"another keeper lives in {place.run}") from error
    _clear(place)
    for folder in {place.run, place.ground}:
        folder.mkdir(exist_ok=True)
        (folder / "g").mkdir()
        (folder / "g").chmod(0o711)
    _copy_guest(place)
    return lock


def _clear(place: Place) -> None:
    for folder in {place.run, place.ground}:
        shutil.rmtree(folder / "g", ignore_errors=True)
        shutil.rmtree(folder / "guest-code", ignore_errors=True)
    (place.run / "keeper.sock").unlink(missing_ok=True)
    if place.ground != place.run:
        shutil.rmtree(place.ground, ignore_errors=True)


def _copy_guest(place: Place) -> None:
    """Compiled ahead, since a guest can't keep what it compiles."""
    code = place.ground / "guest-code"
    shutil.copytree(GUEST, code / "guest", ignore=shutil.ignore_patterns("__pycache__"))
    if shutil.which(place.guest_python):
        compiling = [place.guest_python, "-I", "-m", "compileall", "-q", str(code)]
        subprocess.run(compiling, check=False, stdout=subprocess.DEVNULL)
    for path in [code, *code.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


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
    stop = _stop_socket()
    lock = prepare(settings.place)
    sandbox, why = choose(settings.sandbox, settings.place)
    log.info("%s", why)
    try:
        _run(settings, sandbox, why, stop)
    finally:
        _clear(settings.place)
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
