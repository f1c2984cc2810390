"""What may cross the wall crosses unchanged; what may not is refused before it costs anything."""

import enum
import socket
import struct
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.guest import wire
from sandbox.guest.wire import Array, Handle, Record, WireError, decode, encode

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(max_size=40)
)
KEYS = st.integers() | st.text(max_size=8) | st.binary(max_size=8) | st.tuples(st.integers(), st.text(max_size=3))
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.lists(inner, max_size=6).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.sets(KEYS, max_size=4)
        | st.frozensets(KEYS, max_size=4)
        | st.builds(Record, st.text(max_size=6), st.dictionaries(st.text(max_size=4), inner, max_size=3))
        | st.builds(Handle, st.integers(0, 2**32 - 1))
    ),
    max_leaves=20,
)


@given(VALUES)
def test_a_plain_value_crosses_unchanged(value: Any) -> None:
    back = decode(encode(value))
    assert type(back) is type(value)
    assert back == value


@pytest.mark.parametrize(
    "value", [True, 1, 1.0, -0.0, 0, False, [1, True], [1, 2], (1, 2), (1.0,), {1}, frozenset({1}), b"", ""]
)
def test_types_that_compare_equal_stay_apart(value: Any) -> None:
    back = decode(encode(value))
    assert repr(back) == repr(value)


def test_every_bit_of_a_float_crosses() -> None:
    odd_nan = struct.unpack("<d", b"\x01\x02\x03\x04\x05\x06\xf8\x7f")[0]
    assert struct.pack("<d", decode(encode(odd_nan))) == struct.pack("<d", odd_nan)


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_lists_of_token_ids_travel_packed(ids: list[int]) -> None:
    assert len(encode(ids)) == 5 + 8 * len(ids)
    assert decode(encode(ids)) == ids


class Color(enum.IntEnum):
    RED = 1


class Pair(NamedTuple):
    left: int


class Liar(list):  # type: ignore[type-arg]
    def __len__(self) -> int:
        raise AssertionError("a guest's method was run")

    __iter__ = __getitem__ = __eq__ = __len__  # type: ignore[assignment]


@pytest.mark.parametrize(
    "value",
    [Color.RED, Pair(1), Liar(), Counter(), OrderedDict(), object(), int, len, iter(()), 1j, bytearray(), range(3)],
)
def test_only_exact_builtin_types_cross(value: Any) -> None:
    with pytest.raises(WireError, match="is not a plain value"):
        encode([value])


def test_an_error_says_where_the_fault_is() -> None:
    with pytest.raises(WireError) as caught:
        encode(["value", {"blocks": [1, (2, object())]}])
    assert caught.value.path == "[1]['blocks'][1][1]"


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def test_sixty_four_levels_cross() -> None:
    assert decode(encode(nested(64))) == nested(64)


@pytest.mark.parametrize("depth", [65, 1_000, 100_000])
def test_deeper_values_are_refused_by_the_writer(depth: int) -> None:
    with pytest.raises(WireError, match="deep"):
        encode(nested(depth))


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(WireError, match="deep"):
        encode(endless)


@pytest.mark.parametrize("opening", [b"l\1\0\0\0", b"t\1\0\0\0", b"m\1\0\0\0", b"e\1\0\0\0", b"f\1\0\0\0", b"R", b"A"])
def test_deeper_values_are_refused_by_the_reader(opening: bytes) -> None:
    with pytest.raises(WireError, match="deep"):
        decode(opening * 100_000 + b"N")


def test_too_many_values_are_refused_on_both_sides() -> None:
    with pytest.raises(WireError, match="values"):
        encode([0] * 200_001)
    for tag in (b"l", b"p", b"t", b"q"):
        with pytest.raises(WireError, match="values"):
            decode(tag + struct.pack("<I", 200_001) + b"N" * 8 * 200_001)


def test_values_are_counted_over_the_whole() -> None:
    with pytest.raises(WireError, match="values"):
        encode([[None] * 1_000 for _ in range(201)])


def test_many_small_dicts_share_one_budget_of_entries() -> None:
    with pytest.raises(WireError, match="entries"):
        encode([dict.fromkeys(range(100)) for _ in range(101)])


def test_a_count_is_not_believed() -> None:
    for tag in b"lptqmefsbI":
        with pytest.raises(WireError):
            decode(bytes([tag]) + b"\xff\xff\xff\xff")


def test_keys_chosen_to_share_a_hash_are_refused() -> None:
    keys = [n * (2**61 - 1) for n in range(1, 2_000)]
    body = b"".join(encode(key) for key in keys)
    with pytest.raises(WireError, match="one hash"):
        decode(b"e" + struct.pack("<I", len(keys)) + body)


@pytest.mark.parametrize(
    ("tag", "members"),
    [(b"m", [1, None, 1, None]), (b"m", [1, None, True, None]), (b"e", ["a", "a"]), (b"f", [0, 0.0])],
)
def test_a_key_stands_in_a_dict_once(tag: bytes, members: list[Any]) -> None:
    count = len(members) // (2 if tag == b"m" else 1)
    with pytest.raises(WireError, match="twice"):
        decode(tag + struct.pack("<I", count) + b"".join(map(encode, members)))


@pytest.mark.parametrize("key", [[], {}, set(), ([],), Record("R", {})])
def test_a_key_that_cannot_be_hashed_is_refused(key: Any) -> None:
    with pytest.raises(WireError, match="hashed"):
        decode(b"e\x01\0\0\0" + encode(key))


def test_integers_end_at_4096_bits() -> None:
    assert decode(encode(2**4095)) == 2**4095
    for value in (2**4096, -(2**5_000)):
        with pytest.raises(WireError, match="4096 bits"):
            encode(value)
    with pytest.raises(WireError, match="4096 bits"):
        decode(b"I" + struct.pack("<I", 600) + b"\x7f" * 600)


def test_text_is_utf_8() -> None:
    with pytest.raises(WireError, match="surrogate"):
        encode("\ud800")
    with pytest.raises(WireError, match="UTF-8"):
        decode(b"s\x03\0\0\0\xed\xa0\x80")


def test_a_frame_has_a_largest_size() -> None:
    with pytest.raises(WireError, match="larger"):
        encode(b"x" * (wire.MAX_FRAME + 1))
    with pytest.raises(WireError, match="larger"):
        encode(["x" * 1_000_000] * 9)


ARRAY = Array("int32", (2, 3), (12, 4), bytes(24))


@pytest.mark.parametrize("array", [ARRAY, Array("bool", (), (), b"\1"), Array("float16", (0, 4), (8, 2), b"")])
def test_an_array_crosses_as_its_bytes(array: Array) -> None:
    assert decode(encode(array)) == array


@pytest.mark.parametrize(
    "array",
    [
        Array("int32", (2, 3), (12, 4), bytes(23)),
        Array("int32", (2, 3), (12,), bytes(24)),
        Array("object", (1,), (8,), bytes(8)),
        Array("int8", (2**40,), (0,), b"\0"),
        Array("int8", (-1,), (1,), b"\0"),
        Array("int8", (True,), (1,), b"\0"),
        Array("int8", (2,), (-1,), b"\0\0"),
        Array("int8", (1,) * 17, (1,) * 17, b"\0"),
        Array("int8", [1], [1], b"\0"),  # type: ignore[arg-type]
        Array("int8", (1,), (1,), "\0"),  # type: ignore[arg-type]
    ],
)
def test_an_array_that_lies_about_its_bytes_is_refused(array: Array) -> None:
    with pytest.raises(WireError):
        decode(encode(array))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_refused(payload: bytes) -> None:
    _decode_or_refuse(payload)


@given(VALUES, st.data())
def test_damaged_values_are_a_value_or_refused(value: Any, data: st.DataObject) -> None:
    payload = bytearray(encode(value))
    for _ in range(data.draw(st.integers(1, 4))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    _decode_or_refuse(bytes(payload))


@given(VALUES, st.data())
def test_a_value_cut_short_is_refused(value: Any, data: st.DataObject) -> None:
    payload = encode(value)
    with pytest.raises(WireError):
        decode(payload[: data.draw(st.integers(0, len(payload) - 1))])


def _decode_or_refuse(payload: bytes) -> None:
    try:
        value = decode(payload)
    except WireError:
        return
    encode(value)


def test_bytes_after_a_value_are_refused() -> None:
    with pytest.raises(WireError, match="after the value"):
        decode(encode(1) + b"N")


@pytest.fixture(name="line")
def _line() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


READERS = [wire.read_frame, wire.read_lone_frame]


class Ticking:
    """A clock that no stranger can hold up: each look costs a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("read", READERS)
def test_a_frame_in_many_pieces_is_one_frame(read: Any, line: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = line
    payload = bytes(range(256)) * 4_000
    sender = threading.Thread(target=_in_pieces, args=(theirs, wire.frame(payload)))
    sender.start()
    assert read(ours) == payload
    sender.join()


def _in_pieces(sock: socket.socket, data: bytes) -> None:
    for octet in data[:6]:
        sock.sendall(bytes([octet]))
    sock.sendall(data[6:])


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("sent", [b"", b"\0", b"\0\0\0\x05", b"\0\0\0\x05abcd"])
def test_half_a_frame_runs_into_the_deadline_of_the_whole(
    read: Any, sent: bytes, line: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = line
    theirs.sendall(sent)
    with pytest.raises(TimeoutError):
        read(ours, 1.2, Ticking())


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("sent", [b"", b"\0\0", b"\0\0\0\x05abc"])
def test_a_closed_line_is_an_end(read: Any, sent: bytes, line: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = line
    theirs.sendall(sent)
    theirs.close()
    with pytest.raises(EOFError):
        read(ours, 10.0, lambda: 0.0)


@pytest.mark.parametrize("read", READERS)
def test_an_announced_size_beyond_the_largest_is_refused(read: Any, line: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = line
    theirs.sendall(struct.pack(">I", wire.MAX_FRAME + 1))
    with pytest.raises(WireError):
        read(ours)


def test_nothing_may_follow_a_lone_frame(line: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = line
    theirs.sendall(wire.pack(1) + b"\0")
    with pytest.raises(WireError, match="after the frame"):
        wire.read_lone_frame(ours)


def test_a_reader_who_does_not_read_runs_into_the_deadline(line: tuple[socket.socket, socket.socket]) -> None:
    with pytest.raises(TimeoutError):
        wire.send_frame(line[0], wire.frame(bytes(4 * 1024 * 1024)), 1.01, Ticking())
