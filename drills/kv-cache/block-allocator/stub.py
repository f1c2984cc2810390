"""Block allocator: fill in BlockPool. README.md holds the contract of every method in full."""


class BlockPool:
    """A pool of `num_blocks` equal blocks of the KV cache. Block 0 is reserved and is never handed out."""

    def __init__(self, num_blocks: int, enable_caching: bool = True) -> None:
        """`num_blocks` is at least 1. At first blocks 1, 2, ... are free, in this order, and no block has a hash."""
        raise NotImplementedError

    def alloc(self, n: int) -> list[int]:
        """Hand out the first `n` free blocks, in queue order. ValueError, and no change, if n < 0 or n > num_free()."""
        raise NotImplementedError

    def touch(self, ids: list[int]) -> None:
        """One more holder for each entry of `ids`. A block that was free leaves the queue, wherever it stood."""
        raise NotImplementedError

    def free(self, ids: list[int]) -> None:
        """One holder less for each entry of `ids`. Released blocks without a hash go to the front, others to the back.

        ValueError, and no change, if an id is unknown or stands in the list more often than the block has holders.
        """
        raise NotImplementedError

    def set_hash(self, block_id: int, key: bytes) -> None:
        """Give a held block without a hash the hash `key`. Does nothing if caching is off."""
        raise NotImplementedError

    def lookup(self, key: bytes) -> int | None:
        """The block that has had the hash `key` for the longest time, held or free, or None."""
        raise NotImplementedError

    def evict(self, ids: list[int]) -> None:
        """Take the hashes of these blocks away. Counts and queue stay as they are."""
        raise NotImplementedError

    def reset(self) -> bool:
        """Take all hashes away and answer True, or change nothing and answer False if any block is held."""
        raise NotImplementedError

    def num_free(self) -> int:
        """How many blocks are free."""
        raise NotImplementedError

    def free_order(self) -> list[int]:
        """The free blocks, the next to be handed out first."""
        raise NotImplementedError

    def ref_cnt(self, block_id: int) -> int:
        """How many holders a block has. Always 0 for block 0."""
        raise NotImplementedError

    def usage(self) -> float:
        """The share of held blocks among those that can be handed out, 0.0 if there are none."""
        raise NotImplementedError
