"""A coroutine a request: it is sent tokens and yields the hashes that they completed; items are pulled, not indexed."""

import hashlib
from itertools import count, islice


def encode(value):
    if value is None:
        return b"\xf6"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, ~value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        text = value.encode()
        return head(3, len(text)) + text
    return head(4, len(value)) + b"".join(encode(part) for part in value)


def head(major, number):
    if number < 24:
        return bytes([major << 5 | number])
    size = next(size for size in (1, 2, 4, 8) if number < 256**size)
    return bytes([major << 5 | 23 + size.bit_length()]) + number.to_bytes(size, "big")


def none_hash(seed):
    return hashlib.sha256(encode("vllm-none-hash" if seed is None else seed)).digest()


def hash_block(parent, tokens, extra):
    return hashlib.sha256(encode([parent or none_hash(None), tokens, extra])).digest()


def extra_keys(start, end, *, lora, mm, salt):
    return list(keys(start, end, lora, overlapping(start, end, mm), salt)) or None


def overlapping(start, end, mm):
    return [item for item in mm if item[1] < end and item[1] + item[2] > start]


def keys(start, end, lora, items, salt):
    if lora is not None:
        name, path = lora
        yield "lora", name, path
    for identifier, offset, _ in items:
        yield "mm", identifier, offset - start
    if salt and not start:
        yield "cache_salt", salt


def item_windows(size, mm):
    """For block 0, 1, 2, ... the items that overlap it. Each item is pulled once and dropped where it ends."""
    coming, live = iter(mm), []
    ahead = next(coming, None)
    for start in count(0, size):
        end = start + size
        while ahead is not None and ahead[1] < end:
            live.append(ahead)
            ahead = next(coming, None)
        yield live
        live = [item for item in live if item[1] + item[2] > end]


def hasher(size, lora, mm, salt, seed):
    """Send an iterable of tokens, get the list of new hashes."""
    parent, start, pending, windows = none_hash(seed), 0, [], item_windows(size, mm)
    fresh = []
    while True:
        tokens = iter((yield fresh))
        fresh = []
        while True:
            pending += islice(tokens, size - len(pending))
            if len(pending) < size:
                break
            extra = list(keys(start, start + size, lora, next(windows), salt)) or None
            parent = hash_block(parent, pending, extra)
            fresh.append(parent)
            start, pending = start + size, []


class RequestHasher:
    def __init__(self, block_size, prompt, lora=None, mm=(), salt=None, seed=None):
        if block_size < 1:
            raise ValueError("block_size is at least 1")
        self._hasher = hasher(block_size, lora, mm, salt, seed)
        next(self._hasher)
        self._known = list(self._hasher.send(prompt))

    def append(self, tokens):
        fresh = self._hasher.send(tokens)
        self._known += fresh
        return fresh

    def hashes(self):
        return self._known[:]


def coarse(hashes, factor):
    if factor < 1:
        raise ValueError("factor is at least 1")
    return [hashes[last] for last in range(factor - 1, len(hashes), factor)]


def with_group(h, group_id):
    try:
        return h + group_id.to_bytes(4, "big")
    except OverflowError:
        raise ValueError("a group id has four bytes and no sign") from None
