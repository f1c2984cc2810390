"""K054: spin, deaf to every polite signal."""

import signal


def attack(canary):
    for number in (signal.SIGALRM, signal.SIGINT, signal.SIGTERM, signal.SIGXCPU, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass
