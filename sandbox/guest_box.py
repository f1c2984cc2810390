"""One running guest, the same behind every wall: its agent heard, its children met, its end made certain.

Theory of operation. The first connection at a guest's door is the agent's control channel; each later one must give the
nonce of the child that was just asked for. A connection left behind by an earlier child can only be dead by then, since
the agent ends everything before it forks, so whatever does not know the nonce is closed unread.

A frame on the control channel comes from the agent, which loads no submission; if one is malformed all the same, the
submission has got into the agent, and the box is ended as the guest's doing, not ours.
"""

import secrets
import select
import socket
import threading
import time

from sandbox.box import Ended, Hold, Usage
from sandbox.door import Door
from sandbox.errors import SandboxError
from sandbox.guest import wire
from sandbox.limits import Limits

FIRST_FRAME_S = 2.0
READY_S = 20.0  # a bare Python starts in 14-51 ms; a loaded machine is slower by far


class GuestGone(SandboxError):
    """The guest is no longer there; its fate says why."""


class GuestBox:
    """One running guest: its door, its agent, and the grip that its sandbox has on it."""

    def __init__(self, door: Door, hold: Hold, limits: Limits) -> None:
        self._door, self._hold, self._limits = door, hold, limits
        self._control: socket.socket | None = None
        self._lock = threading.RLock()  # one conversation with the agent at a time
        self._ending = threading.Lock()  # never waits for a conversation
        self._last = Usage()
        self._dead = False
        self._nonce = b""
        self._witness: socket.socket | None = None
        self.ended: Ended | None = None
        self.flooded = False
        self.broke: str | None = None
        self.oom_before = 0

    @property
    def control(self) -> socket.socket:
        if self._control is None:
            raise GuestGone("the agent has not connected")
        return self._control

    def greet(self, deadline: float) -> None:
        """Let the agent in and tell it the limits; every process of the guest is ended if that does not work."""
        try:
            self._control = self._let_in(deadline)
            _, version = self._expect(self._read(self._control, deadline), "agent", 2)
            if version != 1:
                raise SandboxError(f"the agent speaks version {version!r}, not 1")
            self._tell(["limits", _terms(self._limits)], deadline)
        except BaseException:
            self.kill()
            raise

    def _let_in(self, deadline: float) -> socket.socket:
        while time.monotonic() < deadline:
            select.select([self._door.listener], [], [], 0.1)
            if sock := self._door.admit():
                return sock
            if not self._hold.running():
                raise SandboxError(f"the guest ended before its agent spoke: {self._hold.complaint() or 'no word'}")
        raise SandboxError("the agent did not connect in time")

    def child(self, timeout_s: float) -> tuple[bytes, socket.socket]:
        """A fresh child on a connection of its own. GuestGone if the agent can't give one."""
        with self._lock:
            deadline = time.monotonic() + timeout_s
            self._begin()
            self._tell(["child", self._nonce], deadline)
            sock = self._meet(deadline)
            self._witness = sock.dup()
            return self._nonce, sock

    def _begin(self) -> None:
        self._listen()
        self._door.turn_away()
        self._forget_witness()
        self._nonce = secrets.token_bytes(16)
        self.ended, self.flooded = None, False
        self.oom_before = self.usage().oom_kills

    def _meet(self, deadline: float) -> socket.socket:
        while (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([self._door.listener, self.control], [], [], left)
            if self.control in ready:
                self._hear(deadline)
            if (sock := self._door.admit()) and self._knows_nonce(sock):
                return sock
            if self.ended:
                raise GuestGone("the child ended before it connected")
        raise GuestGone("no child connected in time")

    def _knows_nonce(self, sock: socket.socket) -> bool:
        try:
            said = self._expect(self._read(sock, time.monotonic() + FIRST_FRAME_S), "child", 2)
        except (wire.WireError, OSError, EOFError, SandboxError):
            said = []
        if said and said[1] == self._nonce:
            return True
        sock.close()
        return False

    def settle(self, wait_s: float) -> None:
        """Hear what the agent has to say; wait for it only if the child has hung up and no notice came yet."""
        with self._lock:
            deadline = time.monotonic() + wait_s
            self._listen()
            while self._hung_up() and not self.ended and self.alive() and (left := deadline - time.monotonic()) > 0:
                select.select([self.control], [], [], left)
                self._listen()

    def output(self, wait_s: float) -> str:
        """What the last child wrote, as far as the agent kept it."""
        with self._lock:
            if not self._nonce or not self.alive():
                return ""
            deadline = time.monotonic() + wait_s
            try:
                self._tell(["output", self._nonce], deadline)
                return self._await_output(deadline)
            except GuestGone:
                return ""

    def _await_output(self, deadline: float) -> str:
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self.control], [], [], left)[0]:
                notice = self._hear(deadline)
                if notice[0] == "output" and notice[1:2] == [self._nonce]:
                    text = notice[2] if len(notice) == 3 and isinstance(notice[2], bytes) else b""
                    return text[: self._limits.output_kib * 1024].decode("utf-8", "replace")
        return ""

    def _listen(self) -> None:
        """Take every notice that is there already."""
        try:
            while self.alive() and select.select([self.control], [], [], 0)[0]:
                self._hear(time.monotonic() + FIRST_FRAME_S)
        except GuestGone:
            return

    def _hear(self, deadline: float) -> list[object]:
        """One notice of the agent."""
        try:
            notice = wire.decode(wire.read_frame(self.control, deadline))
            self._note(notice)
        except wire.WireError as error:
            self.broke = str(error)
            raise GuestGone("the agent sent what no agent sends") from error
        except (OSError, EOFError) as error:
            raise GuestGone("the agent has hung up") from error
        return list(notice)

    def _note(self, notice: object) -> None:
        match notice:
            case ["started", bytes()] | ["output", bytes(), bytes()]:
                return
            case ["ended", bytes() as nonce, "exit" | "signal" as how, int() as number, int() as size]:
                if nonce == self._nonce:
                    self.ended = Ended(how, number, size)
            case ["flooded", bytes() as nonce]:
                self.flooded = self.flooded or nonce == self._nonce
            case _:
                raise wire.WireError("control", "no such notice")

    def _tell(self, message: list[object], deadline: float) -> None:
        try:
            wire.send_frame(self.control, wire.pack(message), deadline)
        except (OSError, EOFError, wire.WireError) as error:
            raise GuestGone("the agent has hung up") from error

    def _read(self, sock: socket.socket, deadline: float) -> object:
        return wire.decode(wire.read_frame(sock, deadline))

    @staticmethod
    def _expect(message: object, word: str, length: int) -> list[object]:
        if not isinstance(message, list) or len(message) != length or message[0] != word:
            raise SandboxError(f"expected a {word!r} message")
        return message

    def _hung_up(self) -> bool:
        """Our second hold on the child's connection sees the other end close without reading from it."""
        if self._witness is None:
            return False
        poll = select.poll()
        poll.register(self._witness, select.POLLHUP)
        return bool(poll.poll(0))

    def _forget_witness(self) -> None:
        if self._witness is not None:
            self._witness.close()
            self._witness = None

    def usage(self) -> Usage:
        """The kernel's counters; after the end, the last that were read."""
        try:
            if not self._dead:
                self._last = self._hold.usage()
        except (OSError, ValueError):  # the group went away between two looks
            return self._last
        return self._last

    def alive(self) -> bool:
        """Whether the agent still holds its end of the control channel."""
        if self._dead or self._control is None or self.broke:
            return False
        try:
            return not select.select([self._control], [], [], 0)[0] or bool(self._control.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def end(self) -> None:
        """End every process of the guest, from any thread, even while another waits for an answer. Idempotent."""
        with self._ending:
            if self._dead:
                return
            self.usage()
            self._dead = True
            self._hold.kill()

    def kill(self) -> None:
        """End the guest and close everything made for it. Idempotent."""
        try:
            self.end()
        finally:
            with self._lock:
                self._forget_witness()
                self._door.close()
                if self._control is not None:
                    self._control.close()


def _terms(limits: Limits) -> dict[str, int]:
    return {
        "output_kib": limits.output_kib,
        "file_mib": limits.file_mib,
        "open_files": limits.open_files,
        "processes": limits.processes,
        "scratch_mib": limits.scratch_mib,
    }


def opened(door: Door, hold: Hold, limits: Limits) -> GuestBox:
    """A guest whose agent has answered."""
    box = GuestBox(door, hold, limits)
    box.greet(time.monotonic() + READY_S)
    return box
