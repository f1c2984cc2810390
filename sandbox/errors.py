"""Whose fault is it? Two families that never mix.

    BaseException
    └── GuestFault            the guest's doing: becomes a verdict, never an excuse
        ├── GuestCrashed      its process ended inside a call           -> crashed
        ├── GuestTimeout      no whole answer in time, or CPU used up   -> timeout
        ├── GuestOutOfMemory  the kernel killed it for memory           -> memory
        ├── GuestFlooded      wrote more output than it may             -> output_limit
        ├── GuestBrokeWire    sent what is not in the vocabulary        -> broke_wire
        └── GuestWouldNotLoad source does not load (carries the reason) -> import_error
    Exception
    ├── SolutionRaised        submitted code raised something outside the table of exceptions that cross by name
    └── SandboxError          our doing: never counts against the user  -> judge_error
        ├── KeeperGone        the keeper does not answer
        └── NoRoom            no guest could be had in time

A `GuestFault` is a `BaseException` so that neither a test's `pytest.raises(Exception)` nor Hypothesis can take a
dead guest for an ordinary failure (tried: both did, and the verdict came out wrong).
"""


class GuestFault(BaseException):
    """Something the guest did that ends the call; `reason` is bounded plain text that names no secret."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class GuestCrashed(GuestFault):
    """The guest's process ended before it answered."""


class GuestTimeout(GuestFault):
    """No whole answer before the deadline, or the CPU time is used up."""


class GuestOutOfMemory(GuestFault):
    """The kernel ended a process of the guest for memory."""


class GuestFlooded(GuestFault):
    """The guest wrote more output than it may."""


class GuestBrokeWire(GuestFault):
    """The guest sent bytes or values that are not in the vocabulary."""


class GuestWouldNotLoad(GuestFault):
    """The source does not load; `kind` is one of syntax, import, raised, exit, missing_entry."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class SolutionRaised(Exception):
    """Submitted code raised an exception that does not cross by name; `name` is its class name."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name


class SandboxError(Exception):
    """The sandbox itself failed. Never the user's fault."""


class KeeperGone(SandboxError):
    """The keeper does not answer, or closed the lease."""


class NoRoom(SandboxError):
    """No guest became free in time."""
