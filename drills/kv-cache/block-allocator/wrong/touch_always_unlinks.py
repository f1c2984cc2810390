"""touch unlinks every block it is given, and a block that left the queue keeps its old links.

Unlinking a held block once more ties its old neighbours together again, and held blocks come back into the queue.
"""

from collections import Counter


class Block:
    def __init__(self, block_id):
        self.block_id = block_id
        self.refs = 0
        self.key = None
        self.prev = self.next = None


class BlockPool:
    def __init__(self, num_blocks, enable_caching=True):
        self.blocks = [Block(block_id) for block_id in range(num_blocks)]
        self.enable_caching = enable_caching
        self.head, self.tail = Block(-1), Block(-1)
        self.head.next, self.tail.prev = self.tail, self.head
        self.count = 0
        self.holders = {}
        for block in self.blocks[1:]:
            self._insert(self.tail.prev, block)

    def _insert(self, place, block):
        block.prev, block.next = place, place.next
        place.next.prev = block
        place.next = block
        self.count += 1

    def _unlink(self, block):
        block.prev.next = block.next
        block.next.prev = block.prev

    def _get(self, ids):
        if any(not 0 <= block_id < len(self.blocks) for block_id in ids):
            raise ValueError("unknown block")
        return [self.blocks[block_id] for block_id in ids if block_id != 0]

    def _forget(self, block):
        if block.key is not None:
            del self.holders[block.key][block.block_id]
            block.key = None

    def alloc(self, n):
        if n < 0 or n > self.count:
            raise ValueError("not enough free blocks")
        taken = []
        for _ in range(n):
            block = self.head.next
            self._unlink(block)
            self._forget(block)
            block.refs = 1
            taken.append(block.block_id)
        self.count -= n
        return taken

    def touch(self, ids):
        for block in self._get(ids):
            self._unlink(block)
            if block.refs == 0:
                self.count -= 1
            block.refs += 1

    def free(self, ids):
        blocks = self._get(ids)
        if any(times > block.refs for block, times in Counter(blocks).items()):
            raise ValueError("freed more often than held")
        place = self.head
        for block in blocks:
            block.refs -= 1
            if block.refs == 0 and block.key is None:
                self._insert(place, block)
                place = block
            elif block.refs == 0:
                self._insert(self.tail.prev, block)

    def set_hash(self, block_id, key):
        if not self.enable_caching:
            return
        if self.ref_cnt(block_id) == 0 or self.blocks[block_id].key is not None:
            raise ValueError("only a held block without a hash gets one")
        self.blocks[block_id].key = key
        self.holders.setdefault(key, {})[block_id] = None

    def lookup(self, key):
        return next(iter(self.holders.get(key, {})), None)

    def evict(self, ids):
        for block in self._get(ids):
            self._forget(block)

    def reset(self):
        if self.count < len(self.blocks) - 1:
            return False
        for block in self.blocks:
            self._forget(block)
        return True

    def num_free(self):
        return self.count

    def free_order(self):
        order, block = [], self.head.next
        for _ in range(self.count):
            order.append(block.block_id)
            block = block.next
        return order

    def ref_cnt(self, block_id):
        self._get([block_id])
        return self.blocks[block_id].refs

    def usage(self):
        usable = len(self.blocks) - 1
        return 1 - self.count / usable if usable else 0.0
