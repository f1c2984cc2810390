"""K055: write as fast as the pipe takes it: zeros, and no newline."""

import os


def attack(canary):
    while True:
        os.write(1, b"\0" * 65536)
