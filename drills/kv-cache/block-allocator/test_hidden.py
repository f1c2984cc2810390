"""Graded behind the wall. One function, one promise of README.md; drill.toml says which group each belongs to."""

from hypothesis import given, settings
from hypothesis import strategies as st

FEW = settings(max_examples=10)
MANY = settings(max_examples=30)


def key_of(block_id):
    """A hash of its own for each block."""
    return b"k%d" % block_id


def subsets(items):
    """Some of `items`, each at most once, in any order; the empty list is the simplest."""
    items = list(items)
    return st.lists(st.sampled_from(items), unique=True) if items else st.just([])


@st.composite
def held_blocks(draw, most=4):
    """(size of a pool, how many blocks are taken from it first), at least one of them."""
    taken = draw(st.integers(1, most))
    return taken + 1 + draw(st.integers(0, 2)), taken


# zero-alloc: asking for no blocks is allowed, asking for fewer is not


@FEW
@given(size=st.integers(1, 4), taken=st.integers(0, 3))
def test_asking_for_no_blocks_answers_the_empty_list(solution, same, size, taken):
    """alloc(0) answers [] and changes nothing, even when nothing is free."""
    pool = solution.BlockPool(size)
    pool.alloc(min(taken, size - 1))
    same(pool.alloc(0), [])
    same(pool.free_order(), list(range(1, size))[taken:])


@FEW
@given(size=st.integers(1, 4), n=st.integers(-3, -1))
def test_negative_number_of_blocks_is_refused(solution, same, size, n):
    """alloc of a negative number raises ValueError and changes nothing."""
    pool = solution.BlockPool(size)
    same.raises(ValueError, pool.alloc, n)
    same(pool.free_order(), list(range(1, size)))


# exact-fit: the last free block can be handed out


@FEW
@given(size=st.integers(2, 6), data=st.data())
def test_last_free_block_can_be_handed_out(solution, same, size, data):
    """alloc(num_free()) answers all free blocks, and then nothing is free."""
    pool = solution.BlockPool(size)
    first = data.draw(st.integers(0, size - 2), label="first")
    pool.alloc(first)
    same(pool.alloc(size - 1 - first), list(range(first + 1, size)))
    same(pool.num_free(), 0)
    same(pool.free_order(), [])


# null-block: block 0 is never handed out


@FEW
@given(before=st.integers(0, 2), after=st.integers(1, 2), touched=st.booleans())
def test_null_block_in_a_table_is_passed_over(solution, same, before, after, touched):
    """Block 0 may stand in the lists of touch and free any number of times and is never queued."""
    pool = solution.BlockPool(2)
    table = [0] * before + pool.alloc(1) + [0] * after
    if touched:
        pool.touch(table)
        pool.free(table)
    pool.free(table)
    same(pool.ref_cnt(0), 0)
    same(pool.free_order(), [1])
    same(pool.alloc(1), [1])


def test_pool_of_one_block_has_nothing_to_give(solution, same):
    """A pool of one block holds the null block only: alloc(1) raises, alloc(0) and reset work."""
    pool = solution.BlockPool(1)
    same(pool.num_free(), 0)
    same(pool.alloc(0), [])
    same.raises(ValueError, pool.alloc, 1)
    same(pool.free([0]), None)
    same(pool.free_order(), [])
    same(pool.reset(), True)


# usage: usage leaves the reserved block out


@FEW
@given(size=st.integers(2, 6), data=st.data())
def test_usage_is_the_share_of_blocks_that_can_be_handed_out(solution, same, size, data):
    """usage() leaves the null block out of both counts."""
    pool = solution.BlockPool(size)
    taken = data.draw(st.integers(0, size - 1), label="taken")
    pool.alloc(taken)
    same.close(pool.usage(), taken / (size - 1))


def test_usage_of_the_smallest_pool_is_zero(solution, same):
    """A pool with nothing to hand out has usage 0.0."""
    pool = solution.BlockPool(1)
    same(pool.usage(), 0.0)


# unhashed-front: a freed block without a hash is used again first


@FEW
@given(shape=held_blocks(), data=st.data())
def test_blocks_without_hash_go_to_the_front_as_given(solution, same, shape, data):
    """Freed blocks without a hash stand at the head of the queue in the order of the call."""
    size, taken = shape
    pool = solution.BlockPool(size)
    order = data.draw(st.permutations(pool.alloc(taken)), label="order")
    pool.free(order)
    same(pool.free_order(), [*order, *range(taken + 1, size)])


@FEW
@given(sizes=st.lists(st.integers(1, 2), min_size=2, max_size=3))
def test_later_call_ends_nearer_the_head(solution, same, sizes):
    """Of two calls that free blocks without a hash, the blocks of the later one are handed out first."""
    pool = solution.BlockPool(sum(sizes) + 1)
    calls = [pool.alloc(n) for n in sizes]
    for ids in calls:
        pool.free(ids)
    same(pool.alloc(sum(sizes)), [block_id for ids in reversed(calls) for block_id in ids])


# hashed-back: a freed block with a hash is used again last


@FEW
@given(shape=held_blocks(), data=st.data())
def test_blocks_with_hash_go_to_the_back_as_given(solution, same, shape, data):
    """Freed blocks with a hash stand at the tail of the queue in the order of the call."""
    size, taken = shape
    pool = solution.BlockPool(size)
    order = data.draw(st.permutations(pool.alloc(taken)), label="order")
    for block_id in order:
        pool.set_hash(block_id, key_of(block_id))
    pool.free(order)
    same(pool.free_order(), [*range(taken + 1, size), *order])


# mixed-free: one call may free blocks of both kinds


@MANY
@given(shape=held_blocks(), data=st.data())
def test_one_call_parts_the_two_kinds(solution, same, shape, data):
    """One free call puts its blocks without a hash to the front and its others to the back."""
    size, taken = shape
    pool = solution.BlockPool(size)
    ids = pool.alloc(taken)
    hashed = data.draw(subsets(ids), label="hashed")
    order = data.draw(st.permutations(ids), label="order")
    for block_id in hashed:
        pool.set_hash(block_id, key_of(block_id))
    pool.free(order)
    front = [block_id for block_id in order if block_id not in hashed]
    back = [block_id for block_id in order if block_id in hashed]
    same(pool.free_order(), [*front, *range(taken + 1, size), *back])


# shared-block: a block is free when its last holder is gone


@FEW
@given(taken=st.integers(1, 4), holders=st.integers(2, 4), data=st.data())
def test_block_is_free_when_its_last_holder_is_gone(solution, same, taken, holders, data):
    """A block with n holders stays out of the queue until it has been freed n times."""
    pool = solution.BlockPool(taken + 3)
    for _ in range(taken):
        pool.alloc(1)
    shared = data.draw(st.integers(1, taken), label="shared")
    for _ in range(holders - 1):
        pool.touch([shared])
    for left in range(holders - 1, 0, -1):
        pool.free([shared])
        same(pool.ref_cnt(shared), left)
    same(pool.free_order(), [taken + 1, taken + 2])
    pool.free([shared])
    same(pool.ref_cnt(shared), 0)
    same(pool.num_free(), 3)


@FEW
@given(taken=st.integers(1, 4), data=st.data())
def test_touching_a_held_block_leaves_the_queue_alone(solution, same, taken, data):
    """A hit on a block in use adds a holder and does not move any free block."""
    pool = solution.BlockPool(taken + 3)
    for _ in range(taken):
        pool.alloc(1)
    shared = data.draw(st.integers(1, taken), label="shared")
    pool.touch([shared])
    same(pool.free_order(), [taken + 1, taken + 2])
    same(pool.num_free(), 2)
    same(pool.ref_cnt(shared), 2)


# hash-lifetime: a hash lives until its block is handed out again


@FEW
@given(shape=held_blocks())
def test_hash_lives_on_in_a_free_block(solution, same, shape):
    """Freeing a block does not take its hash."""
    size, taken = shape
    pool = solution.BlockPool(size)
    ids = pool.alloc(taken)
    for block_id in ids:
        pool.set_hash(block_id, key_of(block_id))
    pool.free(ids)
    for block_id in ids:
        same(pool.lookup(key_of(block_id)), block_id)


@FEW
@given(count=st.integers(1, 4), data=st.data())
def test_hash_dies_when_its_block_is_handed_out(solution, same, count, data):
    """A block that is handed out anew has lost its hash; a block that still waits has not."""
    pool = solution.BlockPool(count + 1)
    ids = pool.alloc(count)
    for block_id in ids:
        pool.set_hash(block_id, key_of(block_id))
    pool.free(ids)
    reused = pool.alloc(data.draw(st.integers(1, count), label="reused"))
    for block_id in ids:
        same(pool.lookup(key_of(block_id)), None if block_id in reused else block_id)


@FEW
@given(taken=st.integers(1, 3))
def test_block_handed_out_anew_has_no_hash(solution, same, taken):
    """A block that was handed out anew can get a new hash."""
    pool = solution.BlockPool(taken + 1)
    ids = pool.alloc(taken)
    for block_id in ids:
        pool.set_hash(block_id, key_of(block_id))
    pool.free(ids)
    pool.alloc(taken)
    same(pool.set_hash(1, b"new"), None)
    same(pool.lookup(b"new"), 1)


# free-hit: a free block can be taken back from anywhere in the queue


@MANY
@given(shape=held_blocks(), data=st.data())
def test_hit_takes_free_blocks_out_of_any_place(solution, same, shape, data):
    """Touched free blocks leave the queue from head, middle or tail; the others keep their order."""
    size, taken = shape
    pool = solution.BlockPool(size)
    ids = pool.alloc(taken)
    for block_id in ids:
        pool.set_hash(block_id, key_of(block_id))
    pool.free(ids)
    order = pool.free_order()
    hits = data.draw(subsets(range(1, size)), label="hits")
    pool.touch(hits)
    rest = [block_id for block_id in order if block_id not in hits]
    same(pool.num_free(), len(rest))
    same(pool.free_order(), rest)
    same(pool.alloc(len(rest)), rest)
    same.raises(ValueError, pool.alloc, 1)


@FEW
@given(shape=held_blocks(), data=st.data())
def test_hit_on_a_free_block_keeps_its_hash(solution, same, shape, data):
    """A block taken back from the queue still holds its content."""
    size, taken = shape
    pool = solution.BlockPool(size)
    ids = pool.alloc(taken)
    for block_id in ids:
        pool.set_hash(block_id, key_of(block_id))
    pool.free(ids)
    hit = data.draw(st.sampled_from(ids), label="hit")
    pool.touch([hit])
    same(pool.lookup(key_of(hit)), hit)


@FEW
@given(taken=st.integers(1, 3))
def test_block_taken_back_may_get_its_first_hash(solution, same, taken):
    """A free block without a hash that touch took back is held, so set_hash works."""
    pool = solution.BlockPool(taken + 2)
    pool.touch([taken])
    same(pool.set_hash(taken, b"a"), None)
    pool.free([taken])
    same(pool.lookup(b"a"), taken)


# lru-refresh: a hit makes a block the youngest


@FEW
@given(count=st.integers(1, 4), data=st.data())
def test_hit_makes_a_block_the_youngest(solution, same, count, data):
    """A block with a hash that is hit and freed again is evicted after all others."""
    pool = solution.BlockPool(count + 1)
    ids = pool.alloc(count)
    for block_id in ids:
        pool.set_hash(block_id, key_of(block_id))
    pool.free(ids)
    order = pool.free_order()
    hit = data.draw(st.sampled_from(ids), label="hit")
    pool.touch([hit])
    pool.free([hit])
    same(pool.free_order(), [*(block_id for block_id in order if block_id != hit), hit])
    same(pool.num_free(), count)


# repeated-ids: every entry of a list counts, also for the same block


@FEW
@given(times=st.integers(2, 3), free_first=st.booleans())
def test_every_entry_of_touch_counts(solution, same, times, free_first):
    """An id that stands n times in the list of touch gets n holders, and leaves the queue once."""
    pool = solution.BlockPool(4)
    pool.alloc(1)
    if free_first:
        pool.free([1])
    pool.touch([1] * times)
    same(pool.ref_cnt(1), times + (not free_first))
    same(pool.free_order(), [2, 3])


@FEW
@given(times=st.integers(2, 3), hashed=st.booleans())
def test_every_entry_of_free_counts(solution, same, times, hashed):
    """An id that stands n times in the list of free loses n holders, and is queued once."""
    pool = solution.BlockPool(2)
    pool.alloc(1)
    for _ in range(times - 1):
        pool.touch([1])
    if hashed:
        pool.set_hash(1, b"a")
    pool.free([1] * times)
    same(pool.ref_cnt(1), 0)
    same(pool.num_free(), 1)
    same(pool.free_order(), [1])


@FEW
@given(data=st.data())
def test_last_entry_decides_the_place(solution, same, data):
    """A block listed more than once is queued where its last entry stands."""
    pool = solution.BlockPool(4)
    pool.alloc(3)
    shared = data.draw(st.integers(1, 3), label="shared")
    pool.touch([shared])
    order = data.draw(st.permutations([1, 2, 3]), label="order")
    pool.free([shared, *order])
    same(pool.free_order(), order)


# evict: evicting takes the hash and nothing else


@FEW
@given(shape=held_blocks(), data=st.data())
def test_evicting_a_held_block_takes_only_its_hash(solution, same, shape, data):
    """An evicted block stays with its holders, and when they free it it goes to the front."""
    size, taken = shape
    pool = solution.BlockPool(size)
    ids = pool.alloc(taken)
    for block_id in ids:
        pool.set_hash(block_id, key_of(block_id))
    evicted = data.draw(st.sampled_from(ids), label="evicted")
    pool.evict([evicted])
    same(pool.lookup(key_of(evicted)), None)
    same(pool.ref_cnt(evicted), 1)
    pool.free(ids)
    same(pool.free_order(), [evicted, *range(taken + 1, size), *(block_id for block_id in ids if block_id != evicted)])


@FEW
@given(shape=held_blocks(), data=st.data())
def test_evicting_a_free_block_keeps_its_place(solution, same, shape, data):
    """An evicted free block stays where it stands in the queue."""
    size, taken = shape
    pool = solution.BlockPool(size)
    ids = pool.alloc(taken)
    for block_id in ids:
        pool.set_hash(block_id, key_of(block_id))
    pool.free(ids)
    order = pool.free_order()
    evicted = data.draw(st.sampled_from(ids), label="evicted")
    pool.evict([evicted])
    same(pool.lookup(key_of(evicted)), None)
    same(pool.free_order(), order)


@FEW
@given(data=st.data())
def test_evicting_what_has_no_hash_does_nothing(solution, same, data):
    """evict may name blocks without a hash, block 0, and a block twice."""
    pool = solution.BlockPool(4)
    pool.alloc(2)
    pool.set_hash(1, b"a")
    same(pool.evict(data.draw(st.lists(st.sampled_from([0, 2, 3]), min_size=1, max_size=3), label="ids")), None)
    same(pool.lookup(b"a"), 1)
    same(pool.evict([1, 1]), None)
    same(pool.lookup(b"a"), None)
    same(pool.free_order(), [3])


# equal-content: several blocks may hold the same content


@FEW
@given(copies=st.integers(2, 4), data=st.data())
def test_other_copies_survive_when_one_is_handed_out(solution, same, copies, data):
    """When one of several blocks with the same hash is handed out anew, the hash finds the others."""
    pool = solution.BlockPool(copies + 1)
    left = list(pool.alloc(copies))
    for block_id in left:
        pool.set_hash(block_id, b"a")
    pool.free(data.draw(st.permutations(left), label="order"))
    while left:
        left.remove(*pool.alloc(1))
        same(pool.lookup(b"a"), left[0] if left else None)


@FEW
@given(copies=st.integers(2, 4), data=st.data())
def test_block_that_got_the_hash_first_is_found(solution, same, copies, data):
    """lookup answers the block that has had the hash longest, whatever its id."""
    pool = solution.BlockPool(copies + 1)
    order = data.draw(st.permutations(pool.alloc(copies)), label="order")
    for block_id in order:
        pool.set_hash(block_id, b"a")
    same(pool.lookup(b"a"), order[0])


@FEW
@given(copies=st.integers(2, 3))
def test_hash_lost_and_set_again_counts_from_the_second_time(solution, same, copies):
    """A block that lost its hash and got it again comes after the blocks that kept it."""
    pool = solution.BlockPool(copies + 1)
    for block_id in pool.alloc(copies):
        pool.set_hash(block_id, b"a")
    pool.evict([1])
    same(pool.lookup(b"a"), 2)
    pool.set_hash(1, b"a")
    same(pool.lookup(b"a"), 2)


# too-many: a request that cannot be met changes nothing


@FEW
@given(size=st.integers(1, 5), excess=st.integers(1, 3))
def test_one_block_too_many_leaves_the_queue_alone(solution, same, size, excess):
    """A request that cannot be met takes nothing out of the queue."""
    pool = solution.BlockPool(size)
    same.raises(ValueError, pool.alloc, size - 1 + excess)
    same(pool.free_order(), list(range(1, size)))


@FEW
@given(shape=held_blocks(), excess=st.integers(1, 2))
def test_one_block_too_many_costs_no_hash(solution, same, shape, excess):
    """A request that cannot be met takes no hash from the free blocks."""
    size, taken = shape
    pool = solution.BlockPool(size)
    ids = pool.alloc(taken)
    for block_id in ids:
        pool.set_hash(block_id, key_of(block_id))
    pool.free(ids)
    same.raises(ValueError, pool.alloc, size - 1 + excess)
    for block_id in ids:
        same(pool.lookup(key_of(block_id)), block_id)


# bad-free: giving back more than is held is refused whole


@FEW
@given(taken=st.integers(1, 3), data=st.data())
def test_free_block_cannot_be_freed(solution, same, taken, data):
    """free raises ValueError for a block that nobody holds, and the other blocks of the call keep their holders."""
    pool = solution.BlockPool(taken + 2)
    ids = pool.alloc(taken)
    order = data.draw(st.permutations([*ids, taken + 1]), label="order")
    same.raises(ValueError, pool.free, order)
    same(pool.free_order(), [taken + 1])
    for block_id in ids:
        same(pool.ref_cnt(block_id), 1)


@FEW
@given(holders=st.integers(1, 3), excess=st.integers(1, 2))
def test_list_cannot_free_more_than_is_held(solution, same, holders, excess):
    """free raises ValueError if an id stands in the list more often than the block has holders; nothing changes."""
    pool = solution.BlockPool(3)
    pool.alloc(1)
    for _ in range(holders - 1):
        pool.touch([1])
    same.raises(ValueError, pool.free, [1] * (holders + excess))
    same(pool.ref_cnt(1), holders)
    same(pool.free_order(), [2])


# unknown-ids: a block that does not exist is refused, and the call with it


@MANY
@given(
    name=st.sampled_from(["touch", "free", "evict"]), taken=st.integers(1, 3), beyond=st.integers(-2, 1), data=st.data()
)
def test_unknown_id_in_a_list_is_refused(solution, same, name, taken, beyond, data):
    """touch, free and evict raise ValueError for an id that the pool does not have, and do nothing for the others."""
    size = taken + 2
    pool = solution.BlockPool(size)
    ids = pool.alloc(taken)
    pool.set_hash(1, b"a")
    unknown = beyond if beyond < 0 else size + beyond
    order = data.draw(st.permutations([*ids, unknown]), label="order")
    same.raises(ValueError, getattr(pool, name), order)
    for block_id in ids:
        same(pool.ref_cnt(block_id), 1)
    same(pool.free_order(), [taken + 1])
    same(pool.lookup(b"a"), 1)


@FEW
@given(size=st.integers(1, 4), beyond=st.integers(-2, 1))
def test_unknown_id_alone_is_refused(solution, same, size, beyond):
    """ref_cnt and set_hash raise ValueError for an id that the pool does not have."""
    pool = solution.BlockPool(size)
    pool.alloc(size - 1)
    unknown = beyond if beyond < 0 else size + beyond
    same.raises(ValueError, pool.ref_cnt, unknown)
    same.raises(ValueError, pool.set_hash, unknown, b"a")
    same(pool.lookup(b"a"), None)


# set-hash: a hash is set once, on a block that is held


@FEW
@given(size=st.integers(1, 4), data=st.data())
def test_block_that_nobody_holds_gets_no_hash(solution, same, size, data):
    """set_hash raises ValueError for a free block and for block 0."""
    pool = solution.BlockPool(size)
    block_id = data.draw(st.integers(0, size - 1), label="block_id")
    same.raises(ValueError, pool.set_hash, block_id, b"a")
    same(pool.lookup(b"a"), None)


@FEW
@given(new=st.sampled_from([b"a", b"b"]))
def test_hash_is_never_overwritten(solution, same, new):
    """set_hash raises ValueError for a block that has a hash, even the same one, and the first hash stays."""
    pool = solution.BlockPool(3)
    pool.alloc(1)
    pool.set_hash(1, b"a")
    same.raises(ValueError, pool.set_hash, 1, new)
    same(pool.lookup(b"a"), 1)
    same(pool.lookup(b"b"), None)


# reset-busy: reset refuses while a block is held


@FEW
@given(size=st.integers(2, 5), data=st.data())
def test_reset_refuses_while_a_block_is_held(solution, same, size, data):
    """reset answers False and keeps every hash as long as one block is held."""
    pool = solution.BlockPool(size)
    ids = pool.alloc(size - 1)
    for block_id in ids:
        pool.set_hash(block_id, key_of(block_id))
    held = data.draw(st.sampled_from(ids), label="held")
    pool.free([block_id for block_id in ids if block_id != held])
    order = pool.free_order()
    same(pool.reset(), False)
    for block_id in ids:
        same(pool.lookup(key_of(block_id)), block_id)
    same(pool.free_order(), order)


# reset-idle: reset takes all hashes and keeps the order of the queue


@FEW
@given(shape=held_blocks(), data=st.data())
def test_reset_keeps_the_order_of_the_queue(solution, same, shape, data):
    """reset takes the hashes and leaves each block where it stands in the queue."""
    size, taken = shape
    pool = solution.BlockPool(size)
    ids = pool.alloc(taken)
    for block_id in ids:
        pool.set_hash(block_id, key_of(block_id))
    pool.free(data.draw(st.permutations(ids), label="ids"))
    order = pool.free_order()
    same(pool.reset(), True)
    same(pool.free_order(), order)
    for block_id in ids:
        same(pool.lookup(key_of(block_id)), None)


@FEW
@given(shape=held_blocks())
def test_block_freed_after_reset_has_no_hash(solution, same, shape):
    """A block taken back after a reset has no hash any more: it is freed to the front."""
    size, taken = shape
    pool = solution.BlockPool(size)
    ids = pool.alloc(taken)
    for block_id in ids:
        pool.set_hash(block_id, key_of(block_id))
    pool.free(ids)
    pool.reset()
    pool.touch(ids)
    pool.free(ids)
    same(pool.free_order(), [*ids, *range(taken + 1, size)])


# caching-off: with caching off every freed block is used again first


@FEW
@given(shape=held_blocks(), data=st.data())
def test_without_caching_every_block_goes_to_the_front(solution, same, shape, data):
    """With caching off freed blocks go to the head in the order of the call, so a small set is used again and again."""
    size, taken = shape
    pool = solution.BlockPool(size, enable_caching=False)
    order = data.draw(st.permutations(pool.alloc(taken)), label="order")
    pool.free(order)
    same(pool.free_order(), [*order, *range(taken + 1, size)])
    same(pool.alloc(taken), order)


@FEW
@given(shape=held_blocks(), data=st.data())
def test_without_caching_no_hash_is_kept(solution, same, shape, data):
    """With caching off set_hash does nothing, whatever it is given, and lookup finds nothing."""
    size, taken = shape
    pool = solution.BlockPool(size, enable_caching=False)
    ids = pool.alloc(taken)
    same(pool.set_hash(ids[0], b"a"), None)
    same(pool.lookup(b"a"), None)
    same(pool.set_hash(data.draw(st.integers(-1, size), label="block_id"), b"a"), None)
    pool.free(ids)
    same(pool.free_order(), list(range(1, size)))


# any-sequence: any sequence of calls follows the rules


class Pair:
    """The solution's pool and the model's, given the same calls. After each one the queues are compared too."""

    def __init__(self, solution, same, model, size, caching):
        self.pool = solution.BlockPool(size) if caching else solution.BlockPool(size, enable_caching=False)
        self.model = model.BlockPool(size, enable_caching=caching)
        self.same = same

    def call(self, name, *args):
        try:
            expected = getattr(self.model, name)(*args)
        except ValueError:
            self.same.raises(ValueError, getattr(self.pool, name), *args)
        else:
            self.same(getattr(self.pool, name)(*args), expected)
        self.same(self.pool.free_order(), self.model.free_order())

    def compare_counts(self):
        self.same(self.pool.num_free(), self.model.num_free())
        self.same.close(self.pool.usage(), self.model.usage())
        for block_id in range(self.model.num_blocks):
            self.same(self.pool.ref_cnt(block_id), self.model.ref_cnt(block_id))


KEYS = st.sampled_from([b"a", b"b", b"c"])


def lawful_call(draw, model):
    """A call that the contract allows in the model's present state."""
    held = [block_id for block_id, count in model.counts.items() for _ in range(count)]
    bare = [block_id for block_id in set(held) if not model.has_hash(block_id)]
    names = ["alloc", "touch", "lookup", "evict", "reset"] + ["free"] * 2 * bool(held) + ["set_hash"] * 2 * bool(bare)
    name = draw(st.sampled_from(names), label="call")
    if name == "alloc":
        return name, draw(st.integers(0, min(3, model.num_free())))
    if name == "free":
        entries = draw(st.lists(st.sampled_from(range(len(held))), unique=True, min_size=1, max_size=3))
        return name, [held[entry] for entry in entries]
    if name == "set_hash":
        return name, draw(st.sampled_from(sorted(bare))), draw(KEYS)
    if name == "lookup":
        return name, draw(KEYS)
    if name == "reset":
        return (name,)
    return name, draw(st.lists(st.integers(0, model.num_blocks - 1), min_size=1, max_size=2))


def any_call(draw, model):
    """A call with small arguments, allowed or not."""
    some_id = st.integers(-1, model.num_blocks)
    some_ids = st.lists(some_id, min_size=1, max_size=3)
    name = draw(st.sampled_from(["alloc", "free", "touch", "set_hash", "lookup", "evict", "reset"]), label="call")
    if name == "alloc":
        return name, draw(st.integers(-1, 3))
    if name == "set_hash":
        return name, draw(some_id), draw(KEYS)
    if name == "lookup":
        return name, draw(KEYS)
    return (name,) if name == "reset" else (name, draw(some_ids))


@MANY
@given(size=st.integers(2, 6), data=st.data())
def test_lawful_calls_agree_with_the_rules(solution, same, drill, size, data):
    """Whatever lawful calls come in whatever order, each answer and the queue after it are as the rules say."""
    pair = Pair(solution, same, drill.model, size, caching=True)
    for _ in range(data.draw(st.integers(1, 10), label="calls")):
        pair.call(*lawful_call(data.draw, pair.model))
    pair.compare_counts()


@MANY
@given(size=st.integers(1, 4), caching=st.booleans(), data=st.data())
def test_refused_calls_change_nothing_in_between(solution, same, drill, size, caching, data):
    """The same with unlawful calls among them, which raise and leave no trace, and with caching on or off."""
    pair = Pair(solution, same, drill.model, size, caching)
    for _ in range(data.draw(st.integers(1, 8), label="calls")):
        pair.call(*any_call(data.draw, pair.model))
    pair.compare_counts()


# large-pool: the cost of a call does not grow with the queue

LARGE = 60_000


def test_work_does_not_grow_with_the_queue(solution, same):
    """Taking 60,000 free blocks back one by one costs no search through the queue."""
    pool = solution.BlockPool(LARGE + 1)
    hits = list(range(LARGE, 0, -1))
    pool.touch(hits)
    same(pool.num_free(), 0)
    pool.free(hits)
    same(pool.alloc(LARGE), hits)
