"""The tests that a user is given: the published hashes, and the first steps of a request."""

NONE_HASH = bytes.fromhex("9bd96a485ad84efdafb72ee48a1d7a69bcead0f8f0433173941b276b9581eef0")
FIRST = bytes.fromhex("58d0879dff3800f65f8c5fd449d73048c0f7699dd238a03b84b146b151d55111")
SECOND = bytes.fromhex("e1bc29393a2da9fd798f35ff04d215f846aee6df4b803ce3d43b57df56b58fb1")


def test_the_chain_starts_at_the_published_hash(solution, same):
    """Without a seed the chain starts at the hash of "vllm-none-hash", with one at the hash of the seed."""
    same(solution.none_hash(None), NONE_HASH)
    same(
        solution.none_hash("0"),
        bytes.fromhex("4e1195df020de59e0d65a33a4279f1183e7ae4e5d980e309f8b55adff2e61c3e"),
    )


def test_a_block_is_hashed_with_its_parent(solution, same):
    """[1, 2, 3, 4] and then [5, 6, 7, 8] give the two published hashes."""
    same(solution.hash_block(None, [1, 2, 3, 4], None), FIRST)
    same(solution.hash_block(FIRST, [5, 6, 7, 8], None), SECOND)


def test_extra_keys_are_part_of_the_hash(solution, same):
    """An adapter, an image and a salt each give [1, 2, 3, 4] the published hash of its own."""
    published = {
        ("lora", "a", "/p"): "a730fbf98add9cfb4c30f6cf03cdde37d4432f02ac4f5ae0994d49bd5457e893",
        ("mm", "img", 0): "167761267c2b24c9a649e85cd82f855a87b072231e9ffdab5fa8934e968a2434",
        ("cache_salt", "s"): "01466aa533549120b1e6803a48ef19676640af7ee5c524ca9679178595884d02",
    }
    for key, expected in published.items():
        same(solution.hash_block(None, [1, 2, 3, 4], [key]), bytes.fromhex(expected))


def test_a_block_without_extras_has_no_keys(solution, same):
    """Plain text has no extra keys: the answer is None."""
    same(solution.extra_keys(0, 4, lora=None, mm=[], salt=None), None)


def test_ten_tokens_are_two_full_blocks_of_four(solution, same):
    """Of ten tokens the first eight are hashed; two wait for their block to fill."""
    request = solution.RequestHasher(4, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    same(request.hashes(), [FIRST, SECOND])


def test_append_answers_the_hash_of_the_block_it_completes(solution, same):
    """Three tokens, then two more: one new hash. A sixth token: none."""
    request = solution.RequestHasher(4, [1, 2, 3])
    same(request.append([4, 5]), [FIRST])
    same(request.append([6]), [])
    same(request.hashes(), [FIRST])


def test_the_finest_view_and_the_first_group(solution, same):
    """Factor 1 changes nothing; group 0 appends four zero bytes."""
    same(solution.coarse([FIRST, SECOND], 1), [FIRST, SECOND])
    same(solution.with_group(FIRST, 0), FIRST + bytes(4))
