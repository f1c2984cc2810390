"""K010: what mounts and metadata tell of the host: drills, other guests, secrets, an engine's socket."""

import os

TELLING = ("drills", "/run/secrets", "docker.sock", "containerd.sock", "submission", "redis", "keeper.sock")


def attack(canary):
    mounts = open("/proc/self/mountinfo").read()
    found = [word for word in TELLING if word in mounts]
    # Nothing of the keeper's but one door, with one socket in it.
    try:
        if os.listdir("/run/door") != ["s"]:
            found.append("more than one thing at the door")
    except PermissionError:
        pass
    for path in ("/run/secrets", "/run/docker.sock", "/var/run/docker.sock", "/run/containerd"):
        if os.path.exists(path):
            found.append(path)
    return found
