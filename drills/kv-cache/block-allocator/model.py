"""The rules of the block pool, written as plainly as they can be. Slow on purpose: the tests ask it what is right."""


class BlockPool:
    """A list for the queue, a dict of counts, and the hashes in the order in which they were set."""

    def __init__(self, num_blocks, enable_caching=True):
        self.num_blocks = num_blocks
        self.enable_caching = enable_caching
        self.queue = list(range(1, num_blocks))
        self.counts = dict.fromkeys(range(num_blocks), 0)
        self.hashes = []  # (block id, key), oldest first

    def alloc(self, n):
        if n < 0 or n > len(self.queue):
            raise ValueError(n)
        taken = self.queue[:n]
        self.queue = self.queue[n:]
        for block_id in taken:
            self.drop_hash(block_id)
            self.counts[block_id] = 1
        return taken

    def touch(self, ids):
        self.check_known(ids)
        for block_id in ids:
            if block_id == 0:
                continue
            if block_id in self.queue:
                self.queue.remove(block_id)
            self.counts[block_id] += 1

    def free(self, ids):
        self.check_known(ids)
        for block_id in ids:
            if block_id != 0 and ids.count(block_id) > self.counts[block_id]:
                raise ValueError(block_id)
        front, back = [], []
        for block_id in ids:
            if block_id == 0:
                continue
            self.counts[block_id] -= 1
            if self.counts[block_id] == 0:
                (back if self.has_hash(block_id) else front).append(block_id)
        self.queue = front + self.queue + back

    def set_hash(self, block_id, key):
        if not self.enable_caching:
            return
        self.check_known([block_id])
        if self.counts[block_id] == 0 or self.has_hash(block_id):
            raise ValueError(block_id)
        self.hashes.append((block_id, key))

    def lookup(self, key):
        for block_id, held in self.hashes:
            if held == key:
                return block_id
        return None

    def evict(self, ids):
        self.check_known(ids)
        for block_id in ids:
            self.drop_hash(block_id)

    def reset(self):
        if any(self.counts.values()):
            return False
        self.hashes = []
        return True

    def num_free(self):
        return len(self.queue)

    def free_order(self):
        return list(self.queue)

    def ref_cnt(self, block_id):
        self.check_known([block_id])
        return self.counts[block_id]

    def usage(self):
        usable = self.num_blocks - 1
        return (usable - len(self.queue)) / usable if usable else 0.0

    def has_hash(self, block_id):
        return any(held_by == block_id for held_by, _ in self.hashes)

    def drop_hash(self, block_id):
        self.hashes = [(held_by, key) for held_by, key in self.hashes if held_by != block_id]

    def check_known(self, ids):
        for block_id in ids:
            if block_id not in range(self.num_blocks):
                raise ValueError(block_id)
