"""A pool of KV-cache blocks: a queue of free blocks, a count of holders for each block, an index by content.

Free blocks wait in the order in which they will be handed out. The queue is linked through the blocks themselves, so
a block that turns out to be wanted again leaves from the middle without a search.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

NULL_BLOCK_ID = 0


class Block:
    """One block of the cache. `before` and `after` are its neighbours while it is free, and None while it is held."""

    __slots__ = ("after", "before", "block_id", "key", "ref_cnt")

    def __init__(self, block_id: int) -> None:
        self.block_id = block_id
        self.ref_cnt = 0
        self.key: bytes | None = None
        self.before: Block | None = None
        self.after: Block | None = None


class FreeQueue:
    """Free blocks, next to be handed out first. A ring: the fence stands before the head and after the tail."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._fence = Block(-1)
        self._fence.before = self._fence.after = self._fence
        self._length = 0
        self.append(blocks)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Block]:
        block = self._fence.after
        while block is not self._fence:
            yield block
            block = block.after

    def append(self, blocks: Iterable[Block]) -> None:
        """To the back, keeping their order."""
        for block in blocks:
            self._insert_after(self._fence.before, block)

    def prepend(self, blocks: Iterable[Block]) -> None:
        """To the front, keeping their order: the first of them is the new head."""
        place = self._fence
        for block in blocks:
            self._insert_after(place, block)
            place = block

    def pop(self) -> Block:
        """Take the head off a queue that is not empty."""
        head = self._fence.after
        self.remove(head)
        return head

    def remove(self, block: Block) -> None:
        """Take out a block that is in the queue, wherever it stands."""
        block.before.after, block.after.before = block.after, block.before
        # A block that kept its old links could be unlinked twice, and would then pull held blocks back into the queue.
        block.before = block.after = None
        self._length -= 1

    def _insert_after(self, place: Block, block: Block) -> None:
        block.before, block.after = place, place.after
        place.after.before = block
        place.after = block
        self._length += 1


class ContentIndex:
    """Which blocks hold the content named by a key, oldest first. Equal content in several blocks is normal."""

    def __init__(self) -> None:
        self._holders: dict[bytes, dict[int, Block]] = {}

    def add(self, key: bytes, block: Block) -> None:
        block.key = key
        self._holders.setdefault(key, {})[block.block_id] = block

    def discard(self, block: Block) -> None:
        """The block no longer holds anything; other holders of the same content stay."""
        if block.key is None:
            return
        holders = self._holders[block.key]
        del holders[block.block_id]
        if not holders:
            del self._holders[block.key]
        block.key = None

    def oldest(self, key: bytes) -> Block | None:
        return next(iter(self._holders.get(key, {}).values()), None)


class BlockPool:
    """Hands out blocks 1 to num_blocks - 1. Block 0 stays aside as the target of padding."""

    def __init__(self, num_blocks: int, enable_caching: bool = True) -> None:
        self._blocks = [Block(block_id) for block_id in range(num_blocks)]
        self._usable = num_blocks - 1
        self._queue = FreeQueue(self._blocks[1:])
        self._index = ContentIndex()
        self._enable_caching = enable_caching

    def alloc(self, n: int) -> list[int]:
        """Hand out the first n free blocks. Their old content dies now, and not a moment earlier."""
        if not 0 <= n <= len(self._queue):
            raise ValueError(f"cannot hand out {n} blocks, {len(self._queue)} are free")
        taken = [self._queue.pop() for _ in range(n)]
        for block in taken:
            self._index.discard(block)
            block.ref_cnt = 1
        return [block.block_id for block in taken]

    def touch(self, ids: list[int]) -> None:
        """One more holder for each entry; a free block is free no longer."""
        for block in self._usable_blocks(ids):
            if block.ref_cnt == 0:
                self._queue.remove(block)
            block.ref_cnt += 1

    def free(self, ids: list[int]) -> None:
        """One holder less for each entry. Blocks without content go to the front, the others to the back."""
        blocks = self._usable_blocks(ids)
        self._check_held(blocks)
        released = []
        for block in blocks:
            block.ref_cnt -= 1
            if block.ref_cnt == 0:
                released.append(block)
        self._queue.prepend([block for block in released if block.key is None])
        self._queue.append([block for block in released if block.key is not None])

    def set_hash(self, block_id: int, key: bytes) -> None:
        """Name the content of a block that is held and has no name yet."""
        if not self._enable_caching:
            return
        block = self._block(block_id)
        if block.ref_cnt == 0:
            raise ValueError(f"block {block_id} is not held by anybody")
        if block.key is not None:
            raise ValueError(f"block {block_id} has a hash already")
        self._index.add(key, block)

    def lookup(self, key: bytes) -> int | None:
        """The block that has held this content longest, be it held or free."""
        block = self._index.oldest(key)
        return None if block is None else block.block_id

    def evict(self, ids: list[int]) -> None:
        """Forget content. Neither holders nor places in the queue change."""
        for block in self._usable_blocks(ids):
            self._index.discard(block)

    def reset(self) -> bool:
        """Forget all content, if no block is held. The queue keeps its order."""
        if len(self._queue) < self._usable:
            return False
        self.evict(self.free_order())
        return True

    def num_free(self) -> int:
        return len(self._queue)

    def free_order(self) -> list[int]:
        """The free blocks, next to be handed out first."""
        return [block.block_id for block in self._queue]

    def ref_cnt(self, block_id: int) -> int:
        return self._block(block_id).ref_cnt

    def usage(self) -> float:
        """Held share of the blocks that can be handed out at all."""
        return 1.0 - len(self._queue) / self._usable if self._usable else 0.0

    def _block(self, block_id: int) -> Block:
        # Checked by hand: a list takes -1 for its last element.
        if not 0 <= block_id < len(self._blocks):
            raise ValueError(f"there is no block {block_id}")
        return self._blocks[block_id]

    def _usable_blocks(self, ids: list[int]) -> list[Block]:
        """All ids are checked before anything is done to the first. The null block is left out."""
        blocks = [self._block(block_id) for block_id in ids]
        return [block for block in blocks if block.block_id != NULL_BLOCK_ID]

    def _check_held(self, blocks: list[Block]) -> None:
        for block_id, entries in Counter(block.block_id for block in blocks).items():
            if entries > self._blocks[block_id].ref_cnt:
                raise ValueError(f"block {block_id} has fewer than {entries} holders")
