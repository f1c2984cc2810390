"""Settled question "The guest": stop, kill, trace or rewrite process 1, or take its place at the door."""

import ctypes
import os
import signal
import socket

libc = ctypes.CDLL(None, use_errno=True)


def attack(canary):
    found = []
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGSEGV, signal.SIGXCPU):
        try:
            os.kill(1, number)
        except OSError:
            pass
    for path, mode in (("/proc/1/mem", "r+b"), ("/proc/1/environ", "rb"), ("/proc/1/maps", "rb")):
        try:
            with open(path, mode) as file:
                file.read(1)
            found.append(path)
        except OSError:
            pass
    for name, arguments in (("ptrace", (16, 1, 0, 0)), ("process_vm_readv", (1, 0, 0, 0, 0, 0))):
        if getattr(libc, name)(*arguments) != -1:
            found.append(name)
    # A line of one's own to the keeper knows no nonce, and is no second control line.
    for _ in range(20):
        try:
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(0.05)
            sock.connect("/run/door/s")
            sock.send(b"\0\0\0\x05aaaaa")
        except OSError:
            pass
    for path in ("/run/door/s", "/run/door"):
        try:
            os.rename(path, "/tmp/door")
            found.append(path)
        except OSError:
            pass
    return found
