"""No encoder: the CBOR of a block is written straight into SHA-256, piece by piece, and all tokens are kept."""

from bisect import bisect_right
from hashlib import sha256
from struct import pack

SMALL = 24
FORMS = ((0x100, 24, ">BB"), (0x10000, 25, ">BH"), (0x100000000, 26, ">BI"), (1 << 64, 27, ">BQ"))


def initial(major, number):
    if number < SMALL:
        return pack(">B", major << 5 | number)
    for limit, code, form in FORMS:
        if number < limit:
            return pack(form, major << 5 | code, number)
    raise ValueError(number)


def whole_number(number):
    return initial(1, -number - 1) if number < 0 else initial(0, number)


def text(value):
    data = value.encode("utf-8")
    return initial(3, len(data)) + data


def none_hash(seed):
    return sha256(text("vllm-none-hash") if seed is None else text(seed)).digest()


def hash_block(parent, tokens, extra):
    digest = sha256(b"\x83")
    parent = parent or none_hash(None)
    digest.update(initial(2, len(parent)) + parent)
    digest.update(initial(4, len(tokens)))
    for token in tokens:
        digest.update(whole_number(token))
    if extra is None:
        digest.update(b"\xf6")
        return digest.digest()
    digest.update(initial(4, len(extra)))
    for key in extra:
        digest.update(initial(4, len(key)))
        for part in key:
            digest.update(text(part) if isinstance(part, str) else whole_number(part))
    return digest.digest()


def extra_keys(start, end, *, lora, mm, salt):
    return Extras(lora, mm, salt).of_block(start, end)


class Extras:
    """Finds the items of a block by bisection: ends and offsets both ascend, since items are sorted and disjoint."""

    def __init__(self, lora, mm, salt):
        self.lora, self.salt = lora, salt
        self.identifiers = [item[0] for item in mm]
        self.offsets = [item[1] for item in mm]
        self.ends = [item[1] + item[2] for item in mm]

    def of_block(self, start, end):
        found = []
        if self.lora is not None:
            found.append(("lora", self.lora[0], self.lora[1]))
        at = bisect_right(self.ends, start)
        while at < len(self.offsets) and self.offsets[at] < end:
            found.append(("mm", self.identifiers[at], self.offsets[at] - start))
            at += 1
        if start == 0 and self.salt:
            found.append(("cache_salt", self.salt))
        return found if found else None


class RequestHasher:
    def __init__(self, block_size, prompt, lora=None, mm=(), salt=None, seed=None):
        if block_size < 1:
            raise ValueError("block_size")
        self.size, self.extras, self.seed = block_size, Extras(lora, mm, salt), seed
        self.tokens, self.known = [], []
        self.append(prompt)

    def append(self, tokens):
        self.tokens.extend(tokens)
        new = []
        parent = self.known[-1] if self.known else none_hash(self.seed)
        start = len(self.known) * self.size
        while start + self.size <= len(self.tokens):
            end = start + self.size
            parent = hash_block(parent, self.tokens[start:end], self.extras.of_block(start, end))
            new.append(parent)
            start = end
        self.known.extend(new)
        return new

    def hashes(self):
        return list(self.known)


def coarse(hashes, factor):
    if factor <= 0:
        raise ValueError("factor")
    return [h for number, h in enumerate(hashes, 1) if number % factor == 0]


def with_group(h, group_id):
    if group_id < 0 or group_id > 0xFFFFFFFF:
        raise ValueError("group_id")
    return h + pack(">I", group_id)
