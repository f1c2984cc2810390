"""K052: a grandchild runs out of memory and is killed; its parent answers on as if nothing had been."""

import os


def attack(canary):
    pid = os.fork()
    if pid == 0:
        kept = []
        while True:
            kept.append(bytearray(32 << 20))
    os.waitpid(pid, 0)
    return []
