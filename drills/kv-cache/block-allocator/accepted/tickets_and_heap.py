"""Each free block holds a ticket, the lowest ticket goes first, and a heap finds it.

A front place is a ticket below all others, a back place one above. A block that leaves early just loses its ticket; its
entry in the heap goes stale and is skipped when it comes up, or swept when stale entries outnumber the true ones.
"""

import heapq


class BlockPool:
    def __init__(self, num_blocks, enable_caching=True):
        self.num_blocks = num_blocks
        self.enable_caching = enable_caching
        self.ticket_of = {block_id: block_id for block_id in range(1, num_blocks)}
        self.heap = [(ticket, block_id) for block_id, ticket in self.ticket_of.items()]
        self.lowest, self.highest = 1, num_blocks
        self.refs = [0] * num_blocks
        self.keys = [None] * num_blocks
        self.holders = {}

    def _check(self, ids):
        if any(not 0 <= block_id < self.num_blocks for block_id in ids):
            raise ValueError("unknown block")

    def _enqueue(self, block_id, ticket):
        self.ticket_of[block_id] = ticket
        heapq.heappush(self.heap, (ticket, block_id))

    def _sweep(self):
        if len(self.heap) > 2 * len(self.ticket_of) + 16:
            self.heap = [(ticket, block_id) for block_id, ticket in self.ticket_of.items()]
            heapq.heapify(self.heap)

    def _pop(self):
        while True:
            ticket, block_id = heapq.heappop(self.heap)
            if self.ticket_of.get(block_id) == ticket:
                del self.ticket_of[block_id]
                return block_id

    def _forget(self, block_id):
        key, self.keys[block_id] = self.keys[block_id], None
        if key is not None:
            self.holders[key].pop(block_id)

    def alloc(self, n):
        if n < 0 or n > len(self.ticket_of):
            raise ValueError("not that many free blocks")
        taken = [self._pop() for _ in range(n)]
        for block_id in taken:
            self._forget(block_id)
            self.refs[block_id] = 1
        return taken

    def touch(self, ids):
        self._check(ids)
        for block_id in ids:
            if block_id != 0:
                self.ticket_of.pop(block_id, None)
                self.refs[block_id] += 1
        self._sweep()

    def free(self, ids):
        self._check(ids)
        ids = [block_id for block_id in ids if block_id != 0]
        left = {}
        for block_id in ids:
            left[block_id] = left.get(block_id, self.refs[block_id]) - 1
        if any(count < 0 for count in left.values()):
            raise ValueError("freed more often than held")
        fronts = []
        for block_id in ids:
            self.refs[block_id] -= 1
            if self.refs[block_id]:
                continue
            if self.keys[block_id] is None:
                fronts.append(block_id)
            else:
                self._enqueue(block_id, self.highest)
                self.highest += 1
        for block_id in reversed(fronts):
            self.lowest -= 1
            self._enqueue(block_id, self.lowest)

    def set_hash(self, block_id, key):
        if not self.enable_caching:
            return
        self._check([block_id])
        if not self.refs[block_id] or self.keys[block_id] is not None:
            raise ValueError("only a held block without a hash gets one")
        self.keys[block_id] = key
        self.holders.setdefault(key, {})[block_id] = True

    def lookup(self, key):
        for block_id in self.holders.get(key, {}):
            return block_id
        return None

    def evict(self, ids):
        self._check(ids)
        for block_id in ids:
            self._forget(block_id)

    def reset(self):
        if any(self.refs):
            return False
        self.keys = [None] * self.num_blocks
        self.holders = {}
        return True

    def num_free(self):
        return len(self.ticket_of)

    def free_order(self):
        return sorted(self.ticket_of, key=self.ticket_of.get)

    def ref_cnt(self, block_id):
        self._check([block_id])
        return self.refs[block_id]

    def usage(self):
        if self.num_blocks == 1:
            return 0.0
        return 1 - len(self.ticket_of) / (self.num_blocks - 1)
