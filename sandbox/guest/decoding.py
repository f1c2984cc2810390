"""Bytes to values, for bytes that a stranger made: every count is charged before anything of its size is built."""

import struct
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

from .words import ITEM_BYTES, MAX_DIMENSIONS, MAX_FRAME, MAX_INT_BITS, Array, Foreign, Handle, Record, Room, WireError

_Reader = Callable[[bytes, int, Room], tuple[Any, int]]
_int_at = struct.Struct("<q").unpack_from
_float_at = struct.Struct("<d").unpack_from
_count_at = struct.Struct("<I").unpack_from
# Below this, even keys that all share a hash are quick to build.
_FEW_KEYS = 64


def decode(payload: bytes, revive: Foreign | None = None) -> Any:
    """The value of a payload. `revive` turns each Handle, Record and Array into something else. Raises WireError."""
    try:
        value, end = _read(payload, 0, Room(revive))
    except (IndexError, struct.error):
        raise WireError("", "the bytes end inside a value") from None
    if end != len(payload):
        raise WireError("", "bytes after the value")
    return value


def _read(data: bytes, at: int, room: Room) -> tuple[Any, int]:
    return _READERS[data[at]](data, at + 1, room)


def _read_unknown(data: bytes, at: int, room: Room) -> tuple[Any, int]:
    raise WireError("", f"no such tag: {data[at - 1]}")


def _read_none(data: bytes, at: int, room: Room) -> tuple[None, int]:
    return None, at


def _read_true(data: bytes, at: int, room: Room) -> tuple[bool, int]:
    return True, at


def _read_false(data: bytes, at: int, room: Room) -> tuple[bool, int]:
    return False, at


def _read_int(data: bytes, at: int, room: Room) -> tuple[int, int]:
    return _int_at(data, at)[0], at + 8


def _read_float(data: bytes, at: int, room: Room) -> tuple[float, int]:
    return _float_at(data, at)[0], at + 8


def _read_octets(data: bytes, at: int, room: Room) -> tuple[bytes, int]:
    start = at + 4
    end = start + _count_at(data, at)[0]
    if end > len(data):
        raise WireError("", "the bytes end inside a value")
    return data[start:end], end


def _read_big_int(data: bytes, at: int, room: Room) -> tuple[int, int]:
    octets, at = _read_octets(data, at, room)
    if len(octets) > MAX_INT_BITS // 8 + 1:
        raise WireError("", f"int of more than {MAX_INT_BITS} bits")
    return int.from_bytes(octets, "little", signed=True), at


def _read_str(data: bytes, at: int, room: Room) -> tuple[str, int]:
    octets, at = _read_octets(data, at, room)
    try:
        return octets.decode(), at
    except UnicodeDecodeError:
        raise WireError("", "str that is not UTF-8") from None


def _read_packed_tuple(data: bytes, at: int, room: Room) -> tuple[tuple[int, ...], int]:
    count = _count_at(data, at)[0]
    room.enter(count)
    room.depth += 1
    return struct.unpack_from(f"<{count}q", data, at + 4), at + 4 + 8 * count


def _read_packed_list(data: bytes, at: int, room: Room) -> tuple[list[int], int]:
    items, at = _read_packed_tuple(data, at, room)
    return list(items), at


def _read_list(data: bytes, at: int, room: Room) -> tuple[list[Any], int]:
    return _read_parts(data, at + 4, room, _count_at(data, at)[0])


def _read_tuple(data: bytes, at: int, room: Room) -> tuple[tuple[Any, ...], int]:
    items, at = _read_list(data, at, room)
    return tuple(items), at


def _read_parts(data: bytes, at: int, room: Room, count: int) -> tuple[list[Any], int]:
    room.enter(count)  # the parts of a word may be words again
    parts, at = _read_items(data, at, room, count)
    room.depth += 1
    return parts, at


def _read_items(data: bytes, at: int, room: Room, count: int) -> tuple[list[Any], int]:
    items = []
    for _ in range(count):
        item, at = _READERS[data[at]](data, at + 1, room)
        items.append(item)
    return items, at


def _read_dict(data: bytes, at: int, room: Room) -> tuple[dict[Any, Any], int]:
    count = _count_at(data, at)[0]
    room.enter_hashed(count, 2)
    items, at = _read_items(data, at + 4, room, 2 * count)
    room.depth += 1
    keys = items[::2]
    _check_keys(keys)
    value = dict(zip(keys, items[1::2], strict=True))
    if len(value) != count:
        raise WireError("", "dict with the same key twice")
    return value, at


def _read_set(data: bytes, at: int, room: Room) -> tuple[set[Any], int]:
    count = _count_at(data, at)[0]
    room.enter_hashed(count, 1)
    items, at = _read_items(data, at + 4, room, count)
    room.depth += 1
    _check_keys(items)
    value = set(items)
    if len(value) != count:
        raise WireError("", "set with the same member twice")
    return value, at


def _read_frozenset(data: bytes, at: int, room: Room) -> tuple[frozenset[Any], int]:
    value, at = _read_set(data, at, room)
    return frozenset(value), at


def _check_keys(keys: Sequence[Any]) -> None:
    """Refuse what has no hash, and keys chosen to share one: 40,000 of them took 35 seconds to become a dict."""
    try:
        hashes = set(map(hash, keys))
    except TypeError:
        raise WireError("", "a key that cannot be hashed") from None
    if len(keys) > _FEW_KEYS and 2 * len(hashes) < len(keys):
        raise WireError("", "many keys with one hash")


def _read_handle(data: bytes, at: int, room: Room) -> tuple[Any, int]:
    return _revived(Handle(_count_at(data, at)[0]), room), at + 4


def _read_record(data: bytes, at: int, room: Room) -> tuple[Any, int]:
    (name, fields), at = _read_parts(data, at, room, 2)
    if type(name) is not str or type(fields) is not dict or not all(type(field) is str for field in fields):
        raise WireError("", "record with parts of the wrong type")
    return _revived(Record(name, fields), room), at


def _read_array(data: bytes, at: int, room: Room) -> tuple[Any, int]:
    (dtype, shape, strides, octets), at = _read_parts(data, at, room, 4)
    if type(dtype) is not str or type(octets) is not bytes or not (_are_counts(shape) and _are_counts(strides)):
        raise WireError("", "array with parts of the wrong type")
    array = Array(dtype, shape, strides, octets)
    _check_array(array)
    return _revived(array, room), at


def _are_counts(numbers: Any) -> bool:
    return type(numbers) is tuple and all(type(number) is int and number >= 0 for number in numbers)


def _check_array(array: Array) -> None:
    """Every element lies inside the data, and all of them together, spread out, would fit a frame."""
    width = ITEM_BYTES.get(array.dtype)
    if width is None:
        raise WireError("", f"no such dtype: {array.dtype[:20]}")
    if len(array.shape) != len(array.strides) or len(array.shape) > MAX_DIMENSIONS:
        raise WireError("", "array whose shape and strides do not match")
    if prod(array.shape) * width > MAX_FRAME:
        raise WireError("", f"array larger than {MAX_FRAME} bytes")
    last = sum((length - 1) * stride for length, stride in zip(array.shape, array.strides, strict=True))
    if all(array.shape) and last + width > len(array.data):
        raise WireError("", "array that reaches beyond its data")


def _revived(word: Handle | Record | Array, room: Room) -> Any:
    return word if room.foreign is None else room.foreign(word)


_BY_TAG: Final[dict[str, _Reader]] = {
    "N": _read_none,
    "T": _read_true,
    "F": _read_false,
    "i": _read_int,
    "I": _read_big_int,
    "d": _read_float,
    "s": _read_str,
    "b": _read_octets,
    "l": _read_list,
    "p": _read_packed_list,
    "t": _read_tuple,
    "q": _read_packed_tuple,
    "m": _read_dict,
    "e": _read_set,
    "f": _read_frozenset,
    "H": _read_handle,
    "R": _read_record,
    "A": _read_array,
}

_READERS: Final[tuple[_Reader, ...]] = tuple(_BY_TAG.get(chr(tag), _read_unknown) for tag in range(256))
