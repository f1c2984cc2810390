"""Prefix hasher as an engine would keep it: one pass over tokens and items, whatever the size of the pieces."""

import hashlib
from collections.abc import Sequence

Key = tuple[str, ...] | tuple[str, str, int]
Item = tuple[str, int, int]

DEFAULT_SEED = "vllm-none-hash"
GROUP_BYTES = 4


def encode(value: object) -> bytes:
    """Canonical CBOR (RFC 8949, section 4.2) of None, int (64 bits), str, bytes, and lists or tuples of these."""
    kind = type(value)
    if value is None:
        return b"\xf6"
    if kind is int:
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if kind is bytes:
        return head(2, len(value)) + value
    if kind is str:
        text = value.encode()
        return head(3, len(text)) + text
    if kind in (list, tuple):
        return head(4, len(value)) + b"".join(map(encode, value))
    raise TypeError(f"no encoding for {kind.__name__}")


def head(major: int, number: int) -> bytes:
    """The first bytes of a CBOR item: its major type and a number (a value or a length) in as few bytes as hold it."""
    if number < 24:
        return bytes([major << 5 | number])
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if number < 1 << (8 * size):
            return bytes([major << 5 | code]) + number.to_bytes(size, "big")
    raise ValueError("the number needs more than 64 bits")


def none_hash(seed: str | None) -> bytes:
    """The hash that stands where the first block's parent would stand."""
    return hashlib.sha256(encode(DEFAULT_SEED if seed is None else seed)).digest()


NONE_HASH = none_hash(None)


def hash_block(parent: bytes | None, tokens: Sequence[int], extra: Sequence[Key] | None) -> bytes:
    """The hash of one full block. A missing and an empty parent both stand for the start of the sequence."""
    return hashlib.sha256(encode((parent or NONE_HASH, tokens, extra))).digest()


def extra_keys(
    start: int,
    end: int,
    *,
    lora: tuple[str, str] | None,
    mm: Sequence[Item],
    salt: str | None,
) -> list[Key] | None:
    """What besides its tokens the block `[start, end)` depends on, or None."""
    items, _ = item_keys(mm, 0, start, end)
    return join_keys(start, lora, items, salt)


def join_keys(start: int, lora: tuple[str, str] | None, items: list[Key], salt: str | None) -> list[Key] | None:
    """The adapter is part of every block. The salt enters once, at the root: the chain carries it on."""
    keys: list[Key] = [] if lora is None else [("lora", *lora)]
    keys += items
    if salt and start == 0:
        keys.append(("cache_salt", salt))
    return keys or None


def item_keys(items: Sequence[Item], first: int, start: int, end: int) -> tuple[list[Key], int]:
    """Keys of the items that overlap `[start, end)`, and the index from which the next block has to look.

    Items are sorted and disjoint, so an item that ends inside this block is done with, and the walk over a whole
    request takes one step an item and one a block.
    """
    keys: list[Key] = []
    index = first
    while index < len(items) and items[index][1] < end:
        identifier, offset, length = items[index]
        if offset + length > start:
            keys.append(("mm", identifier, offset - start))
        if offset + length > end:
            break
        index += 1
    return keys, index


class RequestHasher:
    """The block hashes of one request, kept up to date while it grows.

    It holds only the tokens that no full block has taken yet, the last hash and its place among the items: what an
    append costs does not depend on how long the request already is.
    """

    def __init__(
        self,
        block_size: int,
        prompt: Sequence[int],
        lora: tuple[str, str] | None = None,
        mm: Sequence[Item] = (),
        salt: str | None = None,
        seed: str | None = None,
    ) -> None:
        if block_size < 1:
            raise ValueError(f"a block holds at least one token, not {block_size}")
        self._block_size = block_size
        self._lora, self._items, self._salt = lora, list(mm), salt
        self._first_item = 0
        self._pending: list[int] = []
        self._hashes: list[bytes] = []
        self._parent = none_hash(seed)
        self.append(prompt)

    def append(self, tokens: Sequence[int]) -> list[bytes]:
        """Tokens that came after the ones so far; answers the hashes of the blocks that they completed."""
        self._pending.extend(tokens)
        size, before = self._block_size, len(self._hashes)
        whole = len(self._pending) // size * size
        for at in range(0, whole, size):
            self._close_block(self._pending[at : at + size])
        del self._pending[:whole]
        return self._hashes[before:]

    def hashes(self) -> list[bytes]:
        """The hashes of all full blocks so far, first block first."""
        return list(self._hashes)

    def _close_block(self, tokens: list[int]) -> None:
        start = len(self._hashes) * self._block_size
        items, self._first_item = item_keys(self._items, self._first_item, start, start + self._block_size)
        self._parent = hash_block(self._parent, tokens, join_keys(start, self._lora, items, self._salt))
        self._hashes.append(self._parent)


def coarse(hashes: Sequence[bytes], factor: int) -> list[bytes]:
    """A block of `factor` fine ones is named by its last fine hash, which already covers the others."""
    if factor < 1:
        raise ValueError(f"a block covers at least one finer block, not {factor}")
    return list(hashes[factor - 1 :: factor])


def with_group(h: bytes, group_id: int) -> bytes:
    """The key of a block in the cache of one KV group."""
    if not 0 <= group_id < 1 << (8 * GROUP_BYTES):
        raise ValueError(f"a group id is an unsigned number of {GROUP_BYTES} bytes, not {group_id}")
    return h + group_id.to_bytes(GROUP_BYTES, "big")
