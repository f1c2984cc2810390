"""K036: socket families that reach past a network namespace: vsock, netlink, packet, crypto, raw."""

import socket


def attack(canary):
    found = []
    for family in range(2, 46):
        for kind in (1, 2, 3, 5, 10):
            for protocol in (0, 1, 15, 255):
                try:
                    socket.socket(family, kind, protocol).close()
                    found.append(f"{family}/{kind}/{protocol}")
                except OSError:
                    continue
    return found
