"""Two queues in a row: a stack of blocks to use up first, and behind it a line of blocks worth keeping.

Whatever goes to the front goes onto the stack, whatever goes to the back joins the line. Both can lose any block by id.
"""

from collections import OrderedDict


class BlockPool:
    def __init__(self, num_blocks, enable_caching=True):
        self.size = num_blocks
        self.caching = enable_caching
        self.stack = {}  # the last entry is the head of the whole queue
        self.line = OrderedDict((block_id, None) for block_id in range(1, num_blocks))
        self.count = dict.fromkeys(range(num_blocks), 0)
        self.key = {}
        self.blocks_with = {}

    def alloc(self, n):
        if not 0 <= n <= self.num_free():
            raise ValueError(n)
        out = []
        while len(out) < n:
            block_id, _ = self.stack.popitem() if self.stack else self.line.popitem(last=False)
            self._drop(block_id)
            self.count[block_id] = 1
            out.append(block_id)
        return out

    def touch(self, ids):
        for block_id in self._real(ids):
            self.count[block_id] += 1
            if self.count[block_id] == 1:
                place = self.stack if block_id in self.stack else self.line
                del place[block_id]

    def free(self, ids):
        released = []
        count = {}
        for block_id in self._real(ids):
            count[block_id] = count.get(block_id, self.count[block_id]) - 1
            if count[block_id] < 0:
                raise ValueError(block_id)
            if count[block_id] == 0:
                released.append(block_id)
        self.count.update(count)
        self.line.update((block_id, None) for block_id in released if block_id in self.key)
        self.stack.update((block_id, None) for block_id in reversed(released) if block_id not in self.key)

    def set_hash(self, block_id, key):
        if not self.caching:
            return
        if self.ref_cnt(block_id) == 0 or block_id in self.key:
            raise ValueError(block_id)
        self.key[block_id] = key
        self.blocks_with.setdefault(key, {})[block_id] = None

    def lookup(self, key):
        return next(iter(self.blocks_with.get(key, {})), None)

    def evict(self, ids):
        for block_id in self._real(ids):
            self._drop(block_id)

    def reset(self):
        idle = self.num_free() == self.size - 1
        if idle:
            self.key, self.blocks_with = {}, {}
        return idle

    def num_free(self):
        return len(self.stack) + len(self.line)

    def free_order(self):
        return [*reversed(self.stack), *self.line]

    def ref_cnt(self, block_id):
        if block_id not in self.count:
            raise ValueError(block_id)
        return self.count[block_id]

    def usage(self):
        return 0.0 if self.size == 1 else (self.size - 1 - self.num_free()) / (self.size - 1)

    def _real(self, ids):
        for block_id in ids:
            if block_id not in self.count:
                raise ValueError(block_id)
        return [block_id for block_id in ids if block_id != 0]

    def _drop(self, block_id):
        if block_id in self.key:
            del self.blocks_with[self.key.pop(block_id)][block_id]
