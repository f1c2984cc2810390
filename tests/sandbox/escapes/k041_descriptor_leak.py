"""K041: is there an open descriptor, or a way up from the working directory, that leads outside?"""

import os
import stat


def attack(canary):
    found = []
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        try:
            kind = os.fstat(number).st_mode
        except OSError:  # the listing's own
            continue
        # stdin, the two outputs, and one socket: the child's own line
        if number > 2 and not stat.S_ISSOCK(kind):
            found.append(f"descriptor {number}: {os.readlink(f'/proc/self/fd/{name}')}")
    sockets = [
        n
        for n in os.listdir("/proc/self/fd")
        if os.path.exists(f"/proc/self/fd/{n}") and stat.S_ISSOCK(os.stat(f"/proc/self/fd/{n}").st_mode)
    ]
    if len(sockets) != 1:
        found.append(f"{len(sockets)} sockets")
    if os.path.exists(os.path.join(os.getcwd(), "../" * 40, "etc/shadow")) and os.access("/etc/shadow", os.R_OK):
        found.append("shadow")
    return found
