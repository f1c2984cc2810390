"""The definition, written down as slowly as it reads: every block from scratch, every item against every token.

Nothing is shared with the reference, not even the encoder. Used by the hidden tests as the oracle.
"""

import hashlib
import struct
from typing import Any

Request = dict[str, Any]


def written(major: int, number: int) -> bytes:
    """RFC 8949 section 3: the shortest of the five forms."""
    for least, code, form in ((1 << 32, 27, ">Q"), (1 << 16, 26, ">I"), (1 << 8, 25, ">H"), (24, 24, ">B")):
        if number >= least:
            return struct.pack(">B", major * 32 + code) + struct.pack(form, number)
    return struct.pack(">B", major * 32 + number)


def cbor(value: Any) -> bytes:
    match value:
        case None:
            return b"\xf6"
        case int() if value < 0:
            return written(1, ~value)
        case int():
            return written(0, value)
        case bytes():
            return written(2, len(value)) + value
        case str():
            return written(3, len(value.encode())) + value.encode()
    out = written(4, len(value))
    for part in value:
        out += cbor(part)
    return out


def none_hash(seed: str | None) -> bytes:
    return hashlib.sha256(cbor("vllm-none-hash" if seed is None else seed)).digest()


def hash_block(parent: bytes | None, tokens: Any, extra: Any) -> bytes:
    if parent is None or parent == b"":
        parent = none_hash(None)
    return hashlib.sha256(cbor([parent, tokens, extra])).digest()


def extra_keys(start: int, end: int, *, lora: Any = None, mm: Any = (), salt: str | None = None) -> list | None:
    keys: list[tuple] = []
    if lora is not None:
        keys.append(("lora", lora[0], lora[1]))
    for identifier, offset, length in mm:
        if set(range(offset, offset + length)) & set(range(start, end)):
            keys.append(("mm", identifier, offset - start))
    if start == 0 and salt is not None and salt != "":
        keys.append(("cache_salt", salt))
    return keys if keys else None


def keys_of_block(request: Request, index: int) -> list | None:
    size = request["block_size"]
    return extra_keys(
        index * size,
        (index + 1) * size,
        lora=request.get("lora"),
        mm=request.get("mm", ()),
        salt=request.get("salt"),
    )


def hashes(request: Request) -> list[bytes]:
    """`request`: block_size, tokens, and where they matter lora, mm, salt, seed."""
    size, tokens = request["block_size"], list(request["tokens"])
    found = [none_hash(request.get("seed"))]
    for index in range(len(tokens) // size):
        block = tokens[index * size : (index + 1) * size]
        found.append(hash_block(found[-1], block, keys_of_block(request, index)))
    return found[1:]


def shared_blocks(one: Request, other: Request) -> int:
    """How many leading full blocks two requests may share: all that went into them is the same up to there."""
    size = one["block_size"]
    if size != other["block_size"] or none_hash(one.get("seed")) != none_hash(other.get("seed")):
        return 0
    count = 0
    while (count + 1) * size <= min(len(one["tokens"]), len(other["tokens"])):
        block = slice(count * size, (count + 1) * size)
        alike = list(one["tokens"][block]) == list(other["tokens"][block])
        if not alike or keys_of_block(one, count) != keys_of_block(other, count):
            break
        count += 1
    return count
