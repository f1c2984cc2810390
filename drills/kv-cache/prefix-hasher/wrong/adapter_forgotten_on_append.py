"""Only the prompt is hashed with the adapter; what is appended later is hashed without."""

import hashlib


def encode(value):
    if value is None:
        return b"\xf6"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        text = value.encode()
        return head(3, len(text)) + text
    return head(4, len(value)) + b"".join(map(encode, value))


def head(major, number):
    if number < 24:
        return bytes([major << 5 | number])
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if number < 1 << (8 * size):
            return bytes([major << 5 | code]) + number.to_bytes(size, "big")
    raise ValueError("the number needs more than 64 bits")


def none_hash(seed):
    return hashlib.sha256(encode("vllm-none-hash" if seed is None else seed)).digest()


def hash_block(parent, tokens, extra):
    return hashlib.sha256(encode((parent or none_hash(None), tokens, extra))).digest()


def extra_keys(start, end, *, lora, mm, salt):
    items, _ = item_keys(mm, 0, start, end)
    return join_keys(start, lora, items, salt)


def join_keys(start, lora, items, salt):
    keys = []
    if lora is not None:
        keys.append(("lora", lora[0], lora[1]))
    keys += items
    if start == 0 and salt:
        keys.append(("cache_salt", salt))
    return keys or None


def item_keys(items, first, start, end):
    keys, index = [], first
    while index < len(items) and items[index][1] < end:
        identifier, offset, length = items[index]
        if offset + length > start:
            keys.append(("mm", identifier, offset - start))
        if offset + length > end:
            break
        index += 1
    return keys, index


class RequestHasher:
    def __init__(self, block_size, prompt, lora=None, mm=(), salt=None, seed=None):
        if block_size < 1:
            raise ValueError("block_size is at least 1")
        self.size, self.lora, self.items, self.salt = block_size, lora, mm, salt
        self.first_item, self.pending, self.known = 0, [], []
        self.parent = none_hash(seed)
        self.append(prompt)
        self.lora = None

    def append(self, tokens):
        before = len(self.known)
        self.pending.extend(tokens)
        whole = len(self.pending) // self.size * self.size
        for at in range(0, whole, self.size):
            self.close(self.pending[at : at + self.size])
        self.pending = self.pending[whole:]
        return self.known[before:]

    def close(self, block):
        start = len(self.known) * self.size
        items, self.first_item = item_keys(self.items, self.first_item, start, start + self.size)
        self.parent = hash_block(self.parent, block, join_keys(start, self.lora, items, self.salt))
        self.known.append(self.parent)

    def hashes(self):
        return list(self.known)


def coarse(hashes, factor):
    if factor < 1:
        raise ValueError("factor is at least 1")
    return list(hashes[factor - 1 :: factor])


def with_group(h, group_id):
    if not 0 <= group_id < 2**32:
        raise ValueError("a group id has four bytes and no sign")
    return h + group_id.to_bytes(4, "big")
