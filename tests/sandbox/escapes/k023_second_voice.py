"""K022, K023: a forked child and a guess at the protocol answer on the same line before the real answer does."""

import os
import socket
import struct


def attack(canary):
    line = next(int(n) for n in os.listdir("/proc/self/fd") if "socket" in _link(n))
    sock = socket.socket(fileno=os.dup(line))
    for forged in (b"\0\0\0\0", b"accepted", struct.pack(">I", 0xFFFFFFFF)):
        sock.send(struct.pack(">I", len(forged)) + forged)
    return []


def _link(name):
    try:
        return os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        return ""
