"""K031: the work is done by a process that nobody waits for, while this one sleeps."""

import os
import time


def attack(canary):
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            while True:
                pass
        os._exit(0)
    time.sleep(600)
