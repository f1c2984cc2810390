"""K003: climb from this call to the top of the stack and look at every local and global for an answer or a test."""

import sys


def attack(canary):
    frame, found = sys._getframe(), []
    while frame := frame.f_back:
        for names in (frame.f_locals, frame.f_globals):
            for name, value in list(names.items()):
                if any(word in str(name).lower() for word in ("expected", "oracle", "hidden", "reference")):
                    found.append(name)
                if isinstance(value, str) and canary in value and value != canary:
                    found.append(name)
    return found
