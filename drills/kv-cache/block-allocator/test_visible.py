"""What a user is given, and what is graded first."""


def test_new_pool_hands_out_blocks_from_1_upwards(solution, same):
    """A new pool hands out 1, 2, 3 in this order."""
    pool = solution.BlockPool(6)
    same(pool.free_order(), [1, 2, 3, 4, 5])
    same(pool.alloc(2), [1, 2])
    same(pool.alloc(1), [3])
    same(pool.free_order(), [4, 5])
    same(pool.num_free(), 2)


def test_asking_for_more_than_is_free_raises(solution, same):
    """A request for more blocks than are free raises ValueError."""
    pool = solution.BlockPool(4)
    same.raises(ValueError, pool.alloc, 4)


def test_freed_block_is_free_again(solution, same):
    """A block that its only holder gives back is free again."""
    pool = solution.BlockPool(4)
    same(pool.alloc(2), [1, 2])
    same(pool.ref_cnt(1), 1)
    same(pool.free([1]), None)
    same(pool.ref_cnt(1), 0)
    same(pool.num_free(), 2)


def test_block_held_twice_survives_one_free(solution, same):
    """A block with two holders is still held after one of them gives it back."""
    pool = solution.BlockPool(4)
    same(pool.alloc(1), [1])
    same(pool.touch([1]), None)
    same(pool.ref_cnt(1), 2)
    pool.free([1])
    same(pool.ref_cnt(1), 1)
    same(pool.free_order(), [2, 3])


def test_hash_is_found_while_its_block_is_held(solution, same):
    """A block can be found by its hash, and an unknown hash finds nothing."""
    pool = solution.BlockPool(4)
    pool.alloc(2)
    same(pool.set_hash(2, b"second"), None)
    same(pool.lookup(b"second"), 2)
    same(pool.lookup(b"first"), None)


def test_free_block_can_be_taken_back(solution, same):
    """A hit on a free block takes it out of the queue."""
    pool = solution.BlockPool(5)
    pool.alloc(2)
    pool.set_hash(2, b"second")
    pool.free([2])
    pool.touch([2])
    same(pool.ref_cnt(2), 1)
    same(pool.free_order(), [3, 4])


def test_evict_and_reset_take_hashes_away(solution, same):
    """After evict and after reset the hash finds nothing."""
    pool = solution.BlockPool(4)
    pool.alloc(2)
    pool.set_hash(1, b"first")
    pool.set_hash(2, b"second")
    pool.evict([1])
    same(pool.lookup(b"first"), None)
    pool.free([1, 2])
    same(pool.reset(), True)
    same(pool.lookup(b"second"), None)
