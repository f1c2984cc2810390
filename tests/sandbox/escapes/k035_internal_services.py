"""K035: connect to every address a service of the house could have, over every family."""

import socket

ADDRESSES = ["127.0.0.1", "169.254.169.254", "172.17.0.1", "10.0.0.1", "192.168.0.1", "8.8.8.8", "::1", "fe80::1"]


def attack(canary):
    found = []
    for address in ADDRESSES:
        for port in (22, 53, 80, 2375, 5432, 6379, 8000):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                try:
                    family = socket.AF_INET6 if ":" in address else socket.AF_INET
                    with socket.socket(family, kind) as sock:
                        sock.settimeout(0.2)
                        sock.connect((address, port))
                        sock.send(b"PING\r\n")
                        found.append(f"{address}:{port}")
                except OSError:
                    continue
    return found
