"""The system-call filter, both forms of it, judged by what it answers and not by how it is written."""

import errno
import struct

import pytest

from sandbox.syscalls import ALLOW, KILL, MACHINES, REFUSE, allowed, profile, program

AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
FOREIGN = 0x40000003  # 32-bit x86
NEWNET, THREAD = 0x40000000, 0x003D0F00
FORBIDDEN = {
    "x86_64": {"ptrace": 101, "mount": 165, "bpf": 321, "clone3": 435, "io_uring_setup": 425, "memfd_create": 319},
    "aarch64": {"ptrace": 117, "mount": 40, "bpf": 280, "clone3": 435, "io_uring_setup": 425, "memfd_create": 279},
}


def answer(code: bytes, audit: int, number: int, argument: int = 0) -> int:
    """What the kernel would: a machine with one register."""
    data = struct.pack("=IIQ6Q", number, audit, 0, argument, 0, 0, 0, 0, 0)
    steps = list(struct.iter_unpack("=HBBI", code))
    at = register = 0
    while True:
        kind, if_true, if_false, value = steps[at]
        at += 1
        match kind:
            case 0x20:
                (register,) = struct.unpack_from("=I", data, value)
            case 0x06:
                return int(value)
            case 0x15 | 0x35 | 0x45:
                holds = {0x15: register == value, 0x35: register >= value, 0x45: bool(register & value)}[kind]
                at += if_true if holds else if_false


@pytest.mark.parametrize("machine", sorted(AUDIT))
def test_exactly_the_listed_calls_are_allowed(machine: str) -> None:
    """Of all numbers from 0 to 1000 those on the list pass, and no other."""
    kind = MACHINES[machine]
    listed = {int(row[kind.column]) for row in allowed() if row[kind.column] != "-"}
    by_argument = {kind.clone, *kind.sockets}
    passed = {n for n in range(1001) if answer(program(machine), AUDIT[machine], n) == ALLOW}
    assert passed - by_argument == listed - by_argument


@pytest.mark.parametrize("machine", sorted(AUDIT))
def test_what_is_not_listed_does_not_exist(machine: str) -> None:
    """Dangerous calls, and those still to be invented, are answered with ENOSYS."""
    for number in (*FORBIDDEN[machine].values(), 999, 0x3FFFFFFF):
        assert answer(program(machine), AUDIT[machine], number) == REFUSE | errno.ENOSYS


@pytest.mark.parametrize("machine", sorted(AUDIT))
def test_threads_pass_and_namespaces_do_not(machine: str) -> None:
    """`clone` is judged by its flags."""
    clone = MACHINES[machine].clone
    assert answer(program(machine), AUDIT[machine], clone, THREAD) == ALLOW
    for flag in (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, NEWNET):
        assert answer(program(machine), AUDIT[machine], clone, flag | 17) == REFUSE | errno.EPERM


@pytest.mark.parametrize("machine", sorted(AUDIT))
def test_only_local_sockets_are_made(machine: str) -> None:
    """AF_UNIX passes; every other family is refused."""
    for number in MACHINES[machine].sockets:
        assert answer(program(machine), AUDIT[machine], number, 1) == ALLOW
        for family in (0, 2, 10, 16, 17, 38, 40):
            assert answer(program(machine), AUDIT[machine], number, family) == REFUSE | errno.EAFNOSUPPORT


def test_a_foreign_abi_is_fatal() -> None:
    """Neither 32-bit calls nor x32 numbers are looked at by number."""
    code = program("x86_64")
    assert answer(code, FOREIGN, 20) == KILL
    assert answer(code, AUDIT["x86_64"], 0x40000000 + 39) == KILL


def test_docker_gets_the_same_list() -> None:
    """The profile names what the program allows, refuses by default, and judges the same arguments."""
    rules = profile()
    assert rules["defaultAction"] == "SCMP_ACT_ERRNO"
    plain, *by_argument = rules["syscalls"]
    assert plain["names"] == [row[0] for row in allowed()]
    assert {rule["names"][0] for rule in by_argument} == {"clone", "socket", "socketpair", "clone3"}
    assert not {"clone", "socket", "socketpair", "clone3"} & set(plain["names"])
