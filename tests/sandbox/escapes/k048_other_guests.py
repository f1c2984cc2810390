"""K048, K057: see, signal or trace anybody who is not of this guest."""

import os

OURS = ("python3", "bwrap")


def attack(canary):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            comm = open(f"/proc/{name}/comm").read().strip()
        except OSError:
            continue
        if not comm.startswith(OURS):
            found.append(comm)
    for pid in range(1, 40_000):
        if pid in (1, os.getpid()):
            continue
        try:
            os.kill(pid, 0)
            if not os.path.exists(f"/proc/{pid}"):
                found.append(str(pid))
        except OSError:
            continue
    return found
