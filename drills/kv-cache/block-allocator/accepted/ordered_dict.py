"""The queue is an OrderedDict: it appends, puts to the front and removes by id in constant time."""

from collections import Counter, OrderedDict


class BlockPool:
    def __init__(self, num_blocks, enable_caching=True):
        self.num_blocks = num_blocks
        self.enable_caching = enable_caching
        self.queue = OrderedDict.fromkeys(range(1, num_blocks))
        self.refs = [0] * num_blocks
        self.key_of = {}
        self.holders = {}

    def _check(self, ids):
        for block_id in ids:
            if block_id < 0 or block_id >= self.num_blocks:
                raise ValueError(f"no block {block_id}")

    def _forget(self, block_id):
        key = self.key_of.pop(block_id, None)
        if key is not None:
            del self.holders[key][block_id]
            if not self.holders[key]:
                del self.holders[key]

    def alloc(self, n):
        if n < 0 or n > len(self.queue):
            raise ValueError(f"{n} blocks wanted, {len(self.queue)} free")
        taken = []
        for _ in range(n):
            block_id, _ = self.queue.popitem(last=False)
            self._forget(block_id)
            self.refs[block_id] = 1
            taken.append(block_id)
        return taken

    def touch(self, ids):
        self._check(ids)
        for block_id in ids:
            if block_id:
                self.queue.pop(block_id, None)
                self.refs[block_id] += 1

    def free(self, ids):
        self._check(ids)
        entries = Counter(ids)
        del entries[0]
        if any(self.refs[block_id] < times for block_id, times in entries.items()):
            raise ValueError("freed more often than held")
        front = []
        for block_id in ids:
            if block_id == 0:
                continue
            self.refs[block_id] -= 1
            if self.refs[block_id] == 0:
                if block_id in self.key_of:
                    self.queue[block_id] = None
                else:
                    front.append(block_id)
        for block_id in reversed(front):
            self.queue[block_id] = None
            self.queue.move_to_end(block_id, last=False)

    def set_hash(self, block_id, key):
        if not self.enable_caching:
            return
        self._check([block_id])
        if self.refs[block_id] == 0 or block_id in self.key_of:
            raise ValueError(f"block {block_id} cannot get a hash now")
        self.key_of[block_id] = key
        self.holders.setdefault(key, OrderedDict())[block_id] = None

    def lookup(self, key):
        return next(iter(self.holders.get(key, ())), None)

    def evict(self, ids):
        self._check(ids)
        for block_id in ids:
            self._forget(block_id)

    def reset(self):
        if len(self.queue) != self.num_blocks - 1:
            return False
        self.key_of.clear()
        self.holders.clear()
        return True

    def num_free(self):
        return len(self.queue)

    def free_order(self):
        return list(self.queue)

    def ref_cnt(self, block_id):
        self._check([block_id])
        return self.refs[block_id]

    def usage(self):
        usable = self.num_blocks - 1
        return (usable - len(self.queue)) / usable if usable else 0.0
