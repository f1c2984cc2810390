"""K014: end with the status of a kill for memory."""

import os


def attack(canary):
    os._exit(137)
