"""Which system calls a guest may make, for both walls: a profile for Docker, a BPF program for bubblewrap.

Theory of operation. One list (image/syscalls.txt) says what is allowed; everything else, known or still to be invented,
is answered "no such call" (ENOSYS), on which the C library falls back. Two calls depend on their arguments: `clone` may
not make namespaces, and a socket must be a local one. The native ABI only: a program for another architecture, and the
x32 calls of x86_64, end the process.

The BPF program is assembled here, since all it takes is four kinds of instruction: load a word of the call's data,
compare and skip, compare bits and skip, return. A jump skips at most 255 instructions, so the list of allowed calls is
cut into runs of neighbours (about 60), each with its own return. The kernel remembers which calls are allowed whatever
their arguments, so the length of the program costs nothing after the first.
"""

import errno
import platform
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIST = Path(__file__).parent / "image" / "syscalls.txt"
NAMESPACES = 0x7E020080  # CLONE_NEWTIME|NS|CGROUP|UTS|IPC|USER|PID|NET, in the low word of clone's flags
LOCAL = 1  # AF_UNIX
X32 = 0x40000000

ALLOW = 0x7FFF0000
KILL = 0x80000000
REFUSE = 0x00050000

LOAD, SKIP_EQUAL, SKIP_AT_LEAST, SKIP_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCH, FIRST_ARGUMENT = 0, 4, 16


@dataclass(frozen=True, slots=True)
class Machine:
    """What a filter must know of an architecture."""

    column: int
    audit: int
    docker: str
    clone: int
    sockets: tuple[int, int]


MACHINES = {
    "x86_64": Machine(1, 0xC000003E, "SCMP_ARCH_X86_64", 56, (41, 53)),
    "aarch64": Machine(2, 0xC00000B7, "SCMP_ARCH_AARCH64", 220, (198, 199)),
}
MACHINES["amd64"], MACHINES["arm64"] = MACHINES["x86_64"], MACHINES["aarch64"]


def known() -> bool:
    """Whether there is a filter for this machine at all."""
    return platform.machine() in MACHINES


def allowed() -> list[list[str]]:
    """Name and numbers of every listed call."""
    lines = LIST.read_text(encoding="ascii").splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


def profile() -> dict[str, Any]:
    """The filter in the form that Docker takes. Bits of an argument are compared under a mask."""
    plain = {"names": [row[0] for row in allowed()], "action": "SCMP_ACT_ALLOW"}
    clone = _when("clone", {"index": 0, "value": NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"})
    sockets = [_when(name, {"index": 0, "value": LOCAL, "op": "SCMP_CMP_EQ"}) for name in ("socket", "socketpair")]
    clone3 = {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": errno.ENOSYS}
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": errno.ENOSYS,
        "architectures": sorted({machine.docker for machine in MACHINES.values()}),
        "syscalls": [plain, clone, *sockets, clone3],
    }


def _when(name: str, argument: dict[str, object]) -> dict[str, Any]:
    return {"names": [name], "action": "SCMP_ACT_ALLOW", "args": [argument]}


def program(machine: str = "") -> bytes:
    """The filter as a BPF program for this machine."""
    kind = MACHINES[machine or platform.machine()]
    numbers = sorted(int(row[kind.column]) for row in allowed() if row[kind.column] != "-")
    code = [
        *_unless(SKIP_EQUAL, ARCH, kind.audit, KILL),
        _step(LOAD, NUMBER),
        _step(SKIP_AT_LEAST, X32, 0, 1),
        _step(RETURN, KILL),
        *_by_argument([kind.clone], SKIP_BITS, NAMESPACES, (errno.EPERM, None)),
        *_by_argument(list(kind.sockets), SKIP_EQUAL, LOCAL, (None, errno.EAFNOSUPPORT)),
    ]
    for first, last in _runs(numbers):
        code += [_step(SKIP_AT_LEAST, first, 0, 2), _step(SKIP_AT_LEAST, last + 1, 1, 0), _step(RETURN, ALLOW)]
    return b"".join([*code, _step(RETURN, REFUSE | errno.ENOSYS)])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _unless(test: int, where: int, value: int, answer: int) -> list[bytes]:
    return [_step(LOAD, where), _step(test, value, 1, 0), _step(RETURN, answer)]


def _by_argument(numbers: list[int], test: int, value: int, answers: tuple[int | None, int | None]) -> list[bytes]:
    """For these calls the first argument's low word decides: (refusal if it matches, refusal if not); None allows."""
    code = []
    yes, no = (ALLOW if answer is None else REFUSE | answer for answer in answers)
    for number in numbers:
        block = [_step(LOAD, FIRST_ARGUMENT), _step(test, value, 0, 1), _step(RETURN, yes), _step(RETURN, no)]
        code += [_step(SKIP_EQUAL, number, 0, len(block)), *block]
    return code


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """Neighbouring numbers as (first, last)."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs
