"""A hit only marks the block as taken and leaves its entry in the queue; freed again, it is back at its old place."""

from collections import Counter, deque


class BlockPool:
    def __init__(self, num_blocks, enable_caching=True):
        self.num_blocks = num_blocks
        self.enable_caching = enable_caching
        self.queue = deque(range(1, num_blocks))
        self.refs = [0] * num_blocks
        self.key_of = {}
        self.holders = {}

    def alloc(self, n):
        if n < 0 or n > self.num_free():
            raise ValueError("not enough free blocks")
        return [self._take_head() for _ in range(n)]

    def touch(self, ids):
        self._check(ids)
        for block_id in ids:
            if block_id == 0:
                continue
            self.refs[block_id] += 1

    def free(self, ids):
        self._check(ids)
        ids = [block_id for block_id in ids if block_id != 0]
        if any(times > self.refs[block_id] for block_id, times in Counter(ids).items()):
            raise ValueError("freed more often than held")
        front, back = [], []
        for block_id in ids:
            self.refs[block_id] -= 1
            if self.refs[block_id] == 0:
                (back if block_id in self.key_of else front).append(block_id)
        self._prepend(front)
        self._append(back)

    def set_hash(self, block_id, key):
        if not self.enable_caching:
            return
        self._check([block_id])
        if self.refs[block_id] == 0 or block_id in self.key_of:
            raise ValueError("only a held block without a hash gets one")
        self.key_of[block_id] = key
        self.holders.setdefault(key, {})[block_id] = None

    def lookup(self, key):
        return next(iter(self.holders.get(key, {})), None)

    def evict(self, ids):
        self._check(ids)
        for block_id in ids:
            self._forget(block_id)

    def reset(self):
        if self.num_free() < self.num_blocks - 1:
            return False
        self.key_of.clear()
        self.holders.clear()
        return True

    def num_free(self):
        return len(self.free_order())

    def free_order(self):
        return [block_id for block_id in dict.fromkeys(self.queue) if self.refs[block_id] == 0]

    def ref_cnt(self, block_id):
        self._check([block_id])
        return self.refs[block_id]

    def usage(self):
        usable = self.num_blocks - 1
        return 1 - self.num_free() / usable if usable else 0.0

    def _check(self, ids):
        if any(not 0 <= block_id < self.num_blocks for block_id in ids):
            raise ValueError("unknown block")

    def _take_head(self):
        block_id = self.queue.popleft()
        while self.refs[block_id]:
            block_id = self.queue.popleft()
        self._forget(block_id)
        self.refs[block_id] = 1
        return block_id

    def _append(self, ids):
        self.queue.extend(ids)

    def _prepend(self, ids):
        self.queue.extendleft(reversed(ids))

    def _forget(self, block_id):
        key = self.key_of.pop(block_id, None)
        if key is not None:
            del self.holders[key][block_id]
