"""Prefix hasher. `encode` is given and complete; write the rest. README.md holds the contract."""


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
    raise NotImplementedError


def hash_block(parent: bytes | None, tokens: list[int], extra: list[tuple] | None) -> bytes:
    """The hash of one full block, chained to its parent's."""
    raise NotImplementedError


def extra_keys(
    start: int,
    end: int,
    *,
    lora: tuple[str, str] | None,
    mm: list[tuple[str, int, int]],
    salt: str | None,
) -> list[tuple] | None:
    """What besides its tokens the block `[start, end)` depends on, or None."""
    raise NotImplementedError


class RequestHasher:
    """The block hashes of one request, kept up to date while it grows."""

    def __init__(
        self,
        block_size: int,
        prompt: list[int],
        lora: tuple[str, str] | None = None,
        mm: list[tuple[str, int, int]] = (),
        salt: str | None = None,
        seed: str | None = None,
    ) -> None:
        raise NotImplementedError

    def append(self, tokens: list[int]) -> list[bytes]:
        """Tokens that came after the ones so far; answers the hashes of the blocks that they completed."""
        raise NotImplementedError

    def hashes(self) -> list[bytes]:
        """The hashes of all full blocks so far, first block first."""
        raise NotImplementedError


def coarse(hashes: list[bytes], factor: int) -> list[bytes]:
    """The hashes of blocks that are `factor` times as long."""
    raise NotImplementedError


def with_group(h: bytes, group_id: int) -> bytes:
    """The key of a block in the cache of one KV group."""
    raise NotImplementedError
