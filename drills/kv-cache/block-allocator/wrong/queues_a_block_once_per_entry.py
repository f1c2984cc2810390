"""Counts go down first and the whole list is filtered afterwards: a block listed twice is counted as free twice."""

from collections import Counter, OrderedDict


class BlockPool:
    def __init__(self, num_blocks, enable_caching=True):
        self.num_blocks = num_blocks
        self.enable_caching = enable_caching
        self.queue = OrderedDict.fromkeys(range(1, num_blocks))
        self.refs = [0] * num_blocks
        self.key_of = {}
        self.holders = {}
        self.free_count = num_blocks - 1

    def alloc(self, n):
        if n < 0 or n > self.free_count:
            raise ValueError("not enough free blocks")
        return [self._take_head() for _ in range(n)]

    def touch(self, ids):
        self._check(ids)
        for block_id in ids:
            if block_id == 0:
                continue
            if self.refs[block_id] == 0:
                del self.queue[block_id]
                self.free_count -= 1
            self.refs[block_id] += 1

    def free(self, ids):
        self._check(ids)
        ids = [block_id for block_id in ids if block_id != 0]
        if any(times > self.refs[block_id] for block_id, times in Counter(ids).items()):
            raise ValueError("freed more often than held")
        for block_id in ids:
            self.refs[block_id] -= 1
        released = [block_id for block_id in ids if self.refs[block_id] == 0]
        self.free_count += len(released)
        self._prepend([block_id for block_id in released if block_id not in self.key_of])
        self._append([block_id for block_id in released if block_id in self.key_of])

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
        if self.free_count < self.num_blocks - 1:
            return False
        self.key_of.clear()
        self.holders.clear()
        return True

    def num_free(self):
        return self.free_count

    def free_order(self):
        return list(self.queue)

    def ref_cnt(self, block_id):
        self._check([block_id])
        return self.refs[block_id]

    def usage(self):
        usable = self.num_blocks - 1
        return 1 - self.free_count / usable if usable else 0.0

    def _check(self, ids):
        if any(not 0 <= block_id < self.num_blocks for block_id in ids):
            raise ValueError("unknown block")

    def _take_head(self):
        block_id, _ = self.queue.popitem(last=False)
        self.free_count -= 1
        self._forget(block_id)
        self.refs[block_id] = 1
        return block_id

    def _append(self, ids):
        for block_id in ids:
            self.queue[block_id] = None

    def _prepend(self, ids):
        for block_id in reversed(ids):
            self.queue[block_id] = None
            self.queue.move_to_end(block_id, last=False)

    def _forget(self, block_id):
        key = self.key_of.pop(block_id, None)
        if key is not None:
            del self.holders[key][block_id]
