"""K051: grow until something gives."""


def attack(canary):
    kept = []
    while True:
        kept.append(bytearray(32 << 20))
