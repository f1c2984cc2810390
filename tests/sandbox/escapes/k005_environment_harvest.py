"""K005: environment, arguments and the environment of process 1: anything beyond a few constants is a find."""

import os
import sys

HARMLESS = {"PATH", "HOME", "TMPDIR", "LANG", "TZ", "PWD", "LC_CTYPE"}


def attack(canary):
    found = sorted(set(os.environ) - HARMLESS)
    for path in ("/proc/1/environ", "/proc/self/environ"):
        try:
            names = {part.split(b"=")[0].decode() for part in open(path, "rb").read().split(b"\0") if part}
        except OSError:
            continue
        found += sorted(names - HARMLESS)
    return found + [word for word in [*sys.argv, *sys.orig_argv] if "token" in word.lower() or "redis" in word.lower()]
