"""The hidden tests of the prefix hasher. model.py is the oracle; what is published is written out."""

from hypothesis import given, settings
from hypothesis import strategies as st

FIRST = bytes.fromhex("58d0879dff3800f65f8c5fd449d73048c0f7699dd238a03b84b146b151d55111")
SECOND = bytes.fromhex("e1bc29393a2da9fd798f35ff04d215f846aee6df4b803ce3d43b57df56b58fb1")
PLAIN = {"lora": None, "mm": [], "salt": None}
ADAPTERS = [("a", "/p"), ("a", "/q"), ("b", "/p")]
IDENTIFIERS = ["A", "B", "AB"]
# Where an encoding or a machine word folds.
TURNS = [0, 1, 23, 24, 255, 256, 65535, 65536, 2**31, 2**32 - 1, 2**32, 2**63 - 1, -1, -24, -25, -256, -257, -(2**63)]
# Pairs that Python's own hash() cannot tell apart.
TWINS = [(-1, -2), (0, 2**61 - 1), (1, 2**61)]

few_tokens = st.lists(st.sampled_from([0, 1]), max_size=12)
pieces = st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=5)


@st.composite
def items_in_order(draw):
    """Image items as an engine has them: sorted, disjoint, sometimes adjacent, sometimes beyond the known tokens."""
    items, free_from = [], 0
    for _ in range(draw(st.integers(0, 3))):
        offset = free_from + draw(st.integers(0, 4))
        length = draw(st.integers(1, 5))
        items.append((draw(st.sampled_from(IDENTIFIERS)), offset, length))
        free_from = offset + length
    return items


@st.composite
def requests(draw):
    """A request with everything a block may depend on, each part drawn from a few values so that pairs collide."""
    request = {"block_size": draw(st.integers(1, 4)), "tokens": draw(few_tokens)}
    request["lora"] = draw(st.sampled_from([None, *ADAPTERS]))
    request["mm"] = draw(items_in_order())
    request["salt"] = draw(st.sampled_from([None, "", "s", "t"]))
    request["seed"] = draw(st.sampled_from([None, "0"]))
    return request


def start(solution, request, prompt=None):
    """A hasher for `request`, told only what is not at its default, so that a small case reads as one."""
    told = {name: request[name] for name in ("lora", "mm", "salt", "seed") if request.get(name) not in (None, [])}
    tokens = request["tokens"] if prompt is None else prompt
    return solution.RequestHasher(request["block_size"], tokens, **told)


def one_to(count):
    return list(range(1, count + 1))


# --- one request, and another beside it


def test_two_requests_do_not_mix(solution, same, drill):
    """Appends to one request leave another alone, however they alternate."""
    left, right = solution.RequestHasher(2, [1]), solution.RequestHasher(2, [5])
    expected = drill.model.hashes({"block_size": 2, "tokens": [1, 2]})
    same(left.append([2, 3]), expected)
    same(right.append([6, 7]), drill.model.hashes({"block_size": 2, "tokens": [5, 6]}))
    same(left.hashes(), expected)


# --- the start of the chain


@given(seed=st.sampled_from([None, "", "0", "1", "vllm-none-hash", "größer"]))
@settings(max_examples=20)
def test_the_seed_names_the_start(solution, same, drill, seed):
    """Any seed, the empty one included, gives the hash of that text; only None gives the default."""
    same(solution.none_hash(seed), drill.model.none_hash(seed))


@given(seed=st.sampled_from([None, "", "0", "1"]))
@settings(max_examples=20)
def test_a_seed_changes_every_hash(solution, same, drill, seed):
    """Two requests with equal tokens and another seed share no block."""
    request = {"block_size": 4, "tokens": one_to(8), "seed": seed}
    same(start(solution, request).hashes(), drill.model.hashes(request))


def test_each_request_keeps_its_own_seed(solution, same, drill):
    """A request created later, with another seed, does not change where an earlier one starts."""
    first = solution.RequestHasher(2, [1], seed="0")
    solution.RequestHasher(2, [1])
    same(first.append([2]), drill.model.hashes({"block_size": 2, "tokens": [1, 2], "seed": "0"}))


def test_an_empty_parent_is_no_parent(solution, same):
    """hash_block(b"", ...) gives the same as hash_block(None, ...)."""
    same(solution.hash_block(b"", [1, 2, 3, 4], None), FIRST)


# --- what is hashed


@given(tokens=st.lists(st.sampled_from(TURNS), min_size=1, max_size=3))
@settings(max_examples=40)
def test_large_and_negative_token_ids_are_hashed_whole(solution, same, drill, tokens):
    """A token id goes into the hash with all of its 64 bits and its sign."""
    same(solution.hash_block(None, tokens, None), drill.model.hash_block(None, tokens, None))


@given(twins=st.sampled_from(TWINS))
@settings(max_examples=10)
def test_token_ids_that_python_hashes_alike_stay_apart(solution, same, drill, twins):
    """Tokens that are equal to Python's hash() are two tokens all the same."""
    for token in twins:
        same(solution.hash_block(None, [token], None), drill.model.hash_block(None, [token], None))


@given(sizes=st.tuples(st.integers(1, 5), st.integers(0, 12)))
@settings(max_examples=40)
def test_only_full_blocks_and_all_of_them_are_hashed(solution, same, drill, sizes):
    """n tokens give n // block_size hashes: nothing for a partial block, and the last full one at once."""
    request = {"block_size": sizes[0], "tokens": one_to(sizes[1])}
    same(start(solution, request).hashes(), drill.model.hashes(request))


def test_a_block_is_hashed_when_its_last_token_comes(solution, same):
    """One token short: no hash. That token: exactly one."""
    request = solution.RequestHasher(4, [1, 2, 3])
    same(request.hashes(), [])
    same(request.append([4]), [FIRST])
    same(request.hashes(), [FIRST])


def test_an_empty_prompt_has_no_hashes(solution, same):
    """No tokens, no hashes; the first block may come by append alone."""
    request = solution.RequestHasher(4, [])
    same(request.hashes(), [])
    same(request.append([1, 2, 3, 4]), [FIRST])


# --- appending


def test_one_append_may_complete_many_blocks(solution, same, drill):
    """Ten tokens after three complete three blocks of four: three hashes, in order."""
    request = solution.RequestHasher(4, [1, 2, 3])
    expected = drill.model.hashes({"block_size": 4, "tokens": one_to(13)})
    same(request.append([4, 5, 6, 7, 8, 9, 10, 11, 12, 13]), expected)


@given(size=st.integers(1, 3), waiting=st.integers(0, 2), count=st.integers(0, 9))
@settings(max_examples=40)
def test_an_append_answers_all_blocks_it_completes(solution, same, drill, size, waiting, count):
    """One append after a prompt that fills no block answers the hashes of all blocks that are now full."""
    tokens = one_to(min(waiting, size - 1) + count)
    request = solution.RequestHasher(size, tokens[: len(tokens) - count])
    same(request.append(tokens[len(tokens) - count :]), drill.model.hashes({"block_size": size, "tokens": tokens}))


@given(size=st.integers(1, 3), parts=pieces)
@settings(max_examples=40)
def test_an_append_answers_the_new_hashes_only(solution, same, drill, size, parts):
    """Each append answers the hashes of the blocks that it completed, and [] if it completed none."""
    request, tokens, known = solution.RequestHasher(size, []), [], 0
    for part in [*parts, []]:
        tokens = tokens + part
        expected = drill.model.hashes({"block_size": size, "tokens": tokens})
        same(request.append(part), expected[known:])
        known = len(expected)


@given(size=st.integers(1, 4), prompt=few_tokens, parts=pieces)
@settings(max_examples=40)
def test_the_cuts_between_appends_leave_no_trace(solution, same, drill, size, prompt, parts):
    """However the tokens arrive, the hashes are those of the whole sequence at once."""
    request = solution.RequestHasher(size, prompt)
    for part in parts:
        request.append(part)
    whole = prompt + [token for part in parts for token in part]
    same(request.hashes(), drill.model.hashes({"block_size": size, "tokens": whole}))


# --- the chain


def test_equal_blocks_at_different_places_differ(solution, same, drill):
    """[9, 9] as first block and [9, 9] as second block are two different blocks."""
    request = {"block_size": 2, "tokens": [9, 9, 9, 9]}
    same(start(solution, request).hashes(), drill.model.hashes(request))


@given(size=st.integers(1, 3), tokens=few_tokens)
@settings(max_examples=40)
def test_a_hash_stands_for_the_whole_prefix(solution, same, drill, size, tokens):
    """A block's hash covers every token from the start of the sequence to its end."""
    request = {"block_size": size, "tokens": tokens}
    same(start(solution, request).hashes(), drill.model.hashes(request))


@given(request=requests())
@settings(max_examples=30)
def test_each_hash_is_made_from_the_one_before(solution, same, request):
    """A request's hash i is hash_block of its hash i - 1, the tokens of block i and the extra keys of block i."""
    size, told = request["block_size"], {name: request[name] for name in ("lora", "mm", "salt")}
    parent, expected = solution.none_hash(request["seed"]), []
    for first in range(0, len(request["tokens"]) - size + 1, size):
        keys = solution.extra_keys(first, first + size, **told)
        parent = solution.hash_block(parent, request["tokens"][first : first + size], keys)
        expected.append(parent)
    same(start(solution, request).hashes(), expected)


# --- adapters


@given(lora=st.sampled_from([None, *ADAPTERS]))
@settings(max_examples=10)
def test_name_and_path_identify_an_adapter(solution, same, drill, lora):
    """Another name or another path is another adapter; the base model shares with neither."""
    request = {"block_size": 2, "tokens": [1, 2], "lora": lora}
    same(start(solution, request).hashes(), drill.model.hashes(request))


@given(block=st.integers(0, 3), lora=st.sampled_from(ADAPTERS))
@settings(max_examples=20)
def test_every_block_names_the_adapter(solution, same, block, lora):
    """The adapter's key is in the list of every block, not of the first alone."""
    keys = solution.extra_keys(block * 2, block * 2 + 2, lora=lora, mm=[], salt=None)
    same(keys, [("lora", lora[0], lora[1])])


def test_the_adapter_is_hashed_into_every_block(solution, same, drill):
    """All hashes of a request with an adapter are made with its key."""
    request = {"block_size": 2, "tokens": one_to(6), "lora": ("a", "/p")}
    same(start(solution, request).hashes(), drill.model.hashes(request))


# --- salts and the list of keys


@given(block=st.integers(0, 3))
@settings(max_examples=10)
def test_only_the_first_block_has_the_salt_in_its_keys(solution, same, block):
    """The salt is a key of the block that starts at token 0 and of no other."""
    keys = solution.extra_keys(block * 4, block * 4 + 4, lora=None, mm=[], salt="s")
    same(keys, [("cache_salt", "s")] if block == 0 else None)


def test_a_salt_reaches_all_blocks_through_the_chain(solution, same, drill):
    """Requests with different salts share no block, although only block 0 has the key."""
    for salt in ("s", "t"):
        request = {"block_size": 2, "tokens": one_to(6), "salt": salt}
        same(start(solution, request).hashes(), drill.model.hashes(request))


def test_an_empty_salt_gives_no_key(solution, same):
    """salt="" gives no key."""
    same(solution.extra_keys(0, 4, lora=None, mm=[], salt=""), None)


def test_an_empty_salt_shares_with_no_salt(solution, same):
    """A request with salt "" has the hashes of one without a salt."""
    same(solution.RequestHasher(4, [1, 2, 3, 4], salt="").hashes(), [FIRST])


@given(items=items_in_order(), lora=st.sampled_from([None, ("a", "/p")]), salt=st.sampled_from([None, "s"]))
@settings(max_examples=40)
def test_keys_stand_in_order_adapter_items_salt(solution, same, drill, items, lora, salt):
    """Block 0 lists the adapter, then the items by offset, then the salt."""
    told = {"lora": lora, "mm": items, "salt": salt}
    same(solution.extra_keys(0, 4, **told), drill.model.extra_keys(0, 4, **told))


def test_a_request_hashes_its_keys_in_that_order(solution, same, drill):
    """The published request: nine tokens, an image in block 1, an adapter and a salt."""
    request = {"block_size": 4, "tokens": one_to(9), "lora": ("a", "/p"), "mm": [("A", 6, 1)], "salt": "s"}
    same(start(solution, request).hashes(), drill.model.hashes(request))
    request["mm"] = [("A", 1, 1)]
    same(start(solution, request).hashes(), drill.model.hashes(request))


def test_a_salt_says_that_it_is_one(solution, same, drill):
    """A salt's key begins with its kind, so that no adapter of the same spelling can have it."""
    same(solution.extra_keys(0, 4, lora=None, mm=[], salt="x"), [("cache_salt", "x")])
    request = {"block_size": 4, "tokens": one_to(4), "salt": "x"}
    same(start(solution, request).hashes(), drill.model.hashes(request))


@given(offset=st.integers(0, 3), length=st.integers(1, 3), gap=st.integers(1, 3))
@settings(max_examples=20)
def test_no_keys_is_none_and_never_an_empty_list(solution, same, offset, length, gap):
    """A block behind the last image depends on its tokens alone: None."""
    begin = offset + length + gap
    same(solution.extra_keys(begin, begin + 4, lora=None, mm=[("A", offset, length)], salt=None), None)


def test_a_block_without_keys_is_hashed_as_plain_text(solution, same):
    """In a request with an image in block 0, block 1 is hashed with null in the place of its keys."""
    first = solution.RequestHasher(4, [1, 2, 3, 4], mm=[("A", 0, 1)]).hashes()
    second = solution.hash_block(first[-1], [5, 6, 7, 8], None)
    same(solution.RequestHasher(4, one_to(8), mm=[("A", 0, 1)]).hashes(), [*first, second])


# --- images and other items


@given(at=st.integers(0, 3))
@settings(max_examples=10)
def test_a_key_holds_the_offset_inside_the_block(solution, same, at):
    """The same image one token later in its block is another key."""
    same(solution.extra_keys(4, 8, **{**PLAIN, "mm": [("A", 4 + at, 1)]}), [("mm", "A", at)])


def test_an_image_moved_by_one_token_is_another_block(solution, same, drill):
    """Placeholders are all the same token: only the offset tells where among them an image begins."""
    for at in (0, 1):
        request = {"block_size": 4, "tokens": [0, 0, 0, 0], "mm": [("A", at, 2)]}
        same(start(solution, request).hashes(), drill.model.hashes(request))


@given(image=st.sampled_from(["x", "y"]), block=st.integers(0, 2))
@settings(max_examples=20)
def test_blocks_from_the_image_on_depend_on_its_content(solution, same, drill, image, block):
    """Another image behind the same placeholder tokens changes every hash from its block on, and none before."""
    request = {"block_size": 2, "tokens": [7, 0, 0, 0, 7, 7], "mm": [(image, block * 2, 1)]}
    same(start(solution, request).hashes(), drill.model.hashes(request))


@given(before=st.integers(0, 3), spans=st.integers(0, 3), ends=st.integers(1, 3), block=st.integers(0, 3))
@settings(max_examples=40)
def test_an_item_is_a_key_of_every_block_it_covers(solution, same, before, spans, ends, block):
    """A long image is in the keys of each block that holds a part of it, at a negative offset after the first."""
    last = max(spans, 1 if ends <= before else 0)
    item, block = ("A", before, last * 4 + ends - before), min(block, last)
    keys = solution.extra_keys(block * 4, block * 4 + 4, lora=None, mm=[item], salt=None)
    same(keys, [("mm", "A", before - block * 4)])


def test_a_request_hashes_a_long_item_into_every_block(solution, same, drill):
    """An image over three blocks is in the hash of all three."""
    request = {"block_size": 4, "tokens": one_to(12), "mm": [("A", 0, 12)]}
    same(start(solution, request).hashes(), drill.model.hashes(request))


def test_all_items_of_a_block_are_keys(solution, same):
    """Two and three images in one block, by offset; the same image twice counts twice."""
    same(
        solution.extra_keys(0, 4, **{**PLAIN, "mm": [("A", 0, 1), ("A", 2, 1)]}),
        [("mm", "A", 0), ("mm", "A", 2)],
    )
    same(
        solution.extra_keys(0, 4, **{**PLAIN, "mm": [("A", 0, 2), ("B", 2, 1), ("A", 3, 3)]}),
        [("mm", "A", 0), ("mm", "B", 2), ("mm", "A", 3)],
    )


def test_a_request_hashes_all_items_of_a_block(solution, same, drill):
    """The published requests with several images: one that ends where another begins, three in one block."""
    for items in ([("A", 0, 1), ("A", 2, 1)], [("A", 2, 4), ("B", 7, 2)], [("A", 0, 2), ("B", 2, 1), ("A", 3, 3)]):
        request = {"block_size": 4, "tokens": one_to(12), "mm": items}
        same(start(solution, request).hashes(), drill.model.hashes(request))


def test_an_item_that_ends_at_the_edge_stays_out_of_the_next_block(solution, same):
    """An image over tokens 0 to 3 is no key of the block that starts at token 4."""
    same(solution.extra_keys(4, 8, **{**PLAIN, "mm": [("A", 0, 4)]}), None)


def test_an_item_that_starts_at_the_edge_stays_out_of_the_block_before(solution, same):
    """An image that begins at token 4 is no key of the block that ends there."""
    same(solution.extra_keys(0, 4, **{**PLAIN, "mm": [("A", 4, 4)]}), None)
    same(solution.extra_keys(4, 8, **{**PLAIN, "mm": [("A", 4, 4)]}), [("mm", "A", 0)])


@given(size=st.integers(1, 3), first=st.integers(1, 4), gap=st.integers(0, 2), second=st.integers(1, 4))
@settings(max_examples=30)
def test_a_request_puts_each_item_into_its_blocks_only(solution, same, drill, size, first, gap, second):
    """Images that touch each other or a block's edge are hashed into the blocks that hold their tokens."""
    items = [("A", 0, first), ("B", first + gap, second)]
    request = {"block_size": size, "tokens": [0] * 9, "mm": items}
    same(start(solution, request).hashes(), drill.model.hashes(request))


@given(items=items_in_order(), size=st.integers(1, 4), prompt=st.integers(0, 8), parts=st.lists(st.integers(0, 4)))
@settings(max_examples=50)
def test_hashing_resumes_in_the_middle_of_an_item(solution, same, drill, items, size, prompt, parts):
    """A request that grows inside or before an image gets the same hashes as one that knew all tokens at once."""
    request = {"block_size": size, "tokens": [0] * (prompt + sum(parts)), "mm": items}
    hasher = start(solution, request, [0] * prompt)
    for count in parts:
        hasher.append([0] * count)
    same(hasher.hashes(), drill.model.hashes(request))


# --- other views, and what is refused


def test_a_coarse_block_has_the_hash_of_its_last_fine_block(solution, same):
    """Factor 2 over five hashes gives the second and the fourth; the odd one is dropped."""
    same(solution.coarse([b"h0", b"h1", b"h2", b"h3", b"h4"], 2), [b"h1", b"h3"])


@given(count=st.integers(0, 9), factor=st.integers(1, 4))
@settings(max_examples=40)
def test_a_coarse_view_hashes_nothing_again(solution, same, count, factor):
    """Coarse hash i is fine hash (i + 1) * factor - 1, and a coarse block that is not full has none."""
    fine = [b"h%d" % number for number in range(count)]
    same(solution.coarse(fine, factor), fine[factor - 1 :: factor])


@given(group=st.sampled_from([0, 1, 2, 255, 256, 65536, 2**31, 2**32 - 1]))
@settings(max_examples=20)
def test_the_group_follows_in_four_bytes_big_endian(solution, same, group):
    """The key is the 32 bytes of the hash and the group id in four bytes, most significant first."""
    same(solution.with_group(SECOND, group), SECOND + group.to_bytes(4, "big"))


def test_a_group_id_out_of_range_is_refused(solution, same):
    """A group id below 0 or over four bytes raises ValueError."""
    for group in (-1, 2**32):
        same.raises(ValueError, solution.with_group, FIRST, group)


def test_a_factor_below_one_is_refused(solution, same):
    """coarse with factor 0 or -1 raises ValueError, also for an empty list."""
    for fine in ([], [FIRST, SECOND]):
        for factor in (0, -1):
            same.raises(ValueError, solution.coarse, fine, factor)


def test_a_block_size_below_one_is_refused(solution, same):
    """A block size of 0 or -1 raises ValueError, also for an empty prompt."""
    for prompt in ([], [1, 2]):
        for size in (0, -1):
            same.raises(ValueError, solution.RequestHasher, size, prompt)


def test_a_tuple_is_as_good_as_a_list(solution, same):
    """Tokens, items and keys may come as lists or as tuples, an adapter and an item too, with the same result."""
    same(solution.hash_block(None, (1, 2, 3, 4), None), FIRST)
    same(
        solution.extra_keys(0, 4, lora=["a", "/p"], mm=[["A", 1, 1]], salt=None), [("lora", "a", "/p"), ("mm", "A", 1)]
    )
    request = solution.RequestHasher(4, (1, 2, 3))
    same(request.append((4, 5)), [FIRST])
    same(request.append([6, 7, 8]), [SECOND])
    keyed = bytes.fromhex("a730fbf98add9cfb4c30f6cf03cdde37d4432f02ac4f5ae0994d49bd5457e893")
    same(solution.hash_block(None, [1, 2, 3, 4], (["lora", "a", "/p"],)), keyed)


# --- the property that all of this is for


@given(data=st.data())
@settings(max_examples=50)
def test_two_requests_share_exactly_what_they_have_in_common(solution, same, drill, data):
    """Two hashes are equal if and only if all that went into both blocks and their prefixes is equal."""
    one = data.draw(requests())
    part = data.draw(st.sampled_from(["tokens", "lora", "mm", "salt", "seed"]))
    other = {**one, part: data.draw(requests())[part]}
    first = start(solution, one).hashes()
    same(first, drill.model.hashes(one))
    shared = drill.model.shared_blocks(one, other)
    same(start(solution, other).hashes(), first[:shared] + drill.model.hashes(other)[shared:])


@given(request=requests(), cut=st.integers(0, 12))
@settings(max_examples=40)
def test_a_request_with_everything_may_arrive_in_two_parts(solution, same, drill, request, cut):
    """Adapter, images, salt and seed together, the tokens in two parts: the second part's hashes are right."""
    hasher = start(solution, request, request["tokens"][:cut])
    done = cut // request["block_size"]
    same(hasher.append(request["tokens"][cut:]), drill.model.hashes(request)[done:])


# --- long requests


def test_a_long_request_is_not_hashed_again_at_every_append(solution, same, drill):
    """An append costs what it adds, not what the request already holds."""
    prompt, steps = [token % 50_000 for token in range(24_000)], 200
    request, whole = solution.RequestHasher(4, prompt), list(prompt)
    for step in range(steps):
        request.append([step] * 4)
        whole += [step] * 4
    same(request.hashes(), drill.model.hashes({"block_size": 4, "tokens": whole}))


def test_a_request_with_many_items_walks_them_once(solution, same, drill):
    """Hashing costs a step a block and a step an item, not their product."""
    items = [("A" if number % 3 else "B", number * 4 + number % 2, 2) for number in range(12_000)]
    expected = drill.reference.RequestHasher(4, [0] * 48_000, mm=items).hashes()
    same(solution.RequestHasher(4, [0] * 48_000, mm=items).hashes(), expected)
