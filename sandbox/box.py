"""The wall, seen from this side: what a sandbox promises, what a guest used, and the shape every sandbox has.

Three sandboxes keep this one promise: Docker, bubblewrap, and a plain process that holds nobody. Each declares which
limits it really holds on this machine, and the contract suite tests just those; the page repeats them to the user.
"""

import hashlib
import os
import socket
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from sandbox.limits import Limits


class Promise(StrEnum):
    """What a sandbox can hold. One that is not declared is not held, however likely it looks."""

    MEMORY = "memory"  # over its memory the kernel ends a child of the guest, and the counter says so
    CPU = "cpu"  # CPU time is counted outside the guest, over all of its processes, dead ones too
    PROCESSES = "processes"  # a fork bomb meets the system's refusal
    NETWORK = "network"  # no packet leaves, no socket family but the local one
    FILES = "files"  # nothing of the host but its system libraries can be read, nothing of it written
    DISK = "disk"  # scratch space ends at its size
    NOEXEC = "noexec"  # what is written to scratch can't be executed
    OUTPUT = "output"  # captured output ends at its size
    AGENT = "agent"  # a submission can neither end nor trace nor outlive process 1
    SYSCALLS = "syscalls"  # only listed system calls, of the native ABI
    IDENTITY = "identity"  # a user of its own, shared with no other guest, never root
    ENVIRONMENT = "environment"  # nothing of the host's environment


@dataclass(frozen=True, slots=True)
class Usage:
    """What a guest has used so far, as told by whoever counts outside of it."""

    cpu_s: float = 0.0
    memory_peak_mib: float = 0.0
    oom_kills: int = 0


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for one guest: its number, the user it runs as, and the CPU it is pinned to."""

    number: int
    uid: int
    cpu: int | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where guests are made: the keeper's runtime folder and what guests are made of."""

    run: Path
    guest_python: str = "/usr/bin/python3"
    guest_image: str = "prefill-guest:small"
    base_image: str = "python:3.11-slim-bookworm"

    @property
    def ground(self) -> Path:
        """Where bubblewrap's guests are made: their users must be able to get there, which a private folder of root's
        does not let them. Docker's guests stay below `run`, since the engine must find them at the same path."""
        open_to_all = all(folder.stat().st_mode & 0o001 for folder in self.run.parents)
        return self.run if os.geteuid() != 0 or open_to_all else Path("/run", f"prefill-{self.label}")

    @property
    def label(self) -> str:
        """The name under which this place's leftovers are found again."""
        return hashlib.sha256(str(self.run).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a verdict should say about the guests of a sandbox."""

    sandbox: str
    python: str
    image: str | None
    promises: tuple[str, ...]


class Hold(Protocol):
    """The grip on one running guest, whatever it is made of."""

    def usage(self) -> Usage: ...

    def running(self) -> bool: ...

    def complaint(self) -> str:
        """What it said before it died, for the log; empty if nothing."""
        ...

    def kill(self) -> None:
        """End every process of the guest and remove what was made for it. Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class Ended:
    """How a guest's child ended, as its agent saw it."""

    how: str
    number: int
    output_bytes: int


class Box(Protocol):
    """One running guest, made by `Sandbox.open`."""

    @property
    def control(self) -> socket.socket: ...

    ended: Ended | None  # how the last child ended, once the agent has said so
    flooded: bool  # the last child wrote more than it may
    broke: str | None  # how the agent broke its protocol, if it did
    oom_before: int  # the kernel's out-of-memory kills before the last child began

    def child(self, timeout_s: float) -> tuple[bytes, socket.socket]:
        """A fresh child: its nonce, and its own connection."""
        ...

    def settle(self, wait_s: float) -> None:
        """Hear what the agent has to say about a child that hung up."""
        ...

    def output(self, wait_s: float) -> str: ...

    def usage(self) -> Usage: ...

    def alive(self) -> bool: ...

    def end(self) -> None:
        """End every process of the guest, from any thread. Idempotent."""
        ...

    def kill(self) -> None:
        """End the guest and remove all that was made for it. Idempotent."""
        ...


class Sandbox(Protocol):
    """A way to hold guests. `open` is called from one long-lived thread (see bubblewrap.py)."""

    @property
    def name(self) -> str: ...

    @property
    def promises(self) -> frozenset[Promise]: ...

    @property
    def facts(self) -> Facts: ...

    def open(self, limits: Limits, slot: Slot) -> Box: ...

    def sweep(self) -> int:
        """Remove what an earlier life on the same runtime folder left behind; how many guests that were."""
        ...

    def close(self) -> None:
        """Remove what was made for all guests together."""
        ...
