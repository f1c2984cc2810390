"""Values to bytes. Exact built-in types only: a subclass with a lying `__len__` or `__eq__` has no way across."""

import struct
from collections.abc import Callable, Iterable
from typing import Any, Final

from .words import MAX_FRAME, MAX_INT_BITS, Array, Foreign, Handle, Record, Room, WireError, name_of

_Writer = Callable[[Any, list[bytes], Room], None]
_pack_int = struct.Struct("<cq").pack
_pack_float = struct.Struct("<cd").pack
_pack_count = struct.Struct("<cI").pack
_ONLY_INTS = {int}


def encode(value: Any, stand_in: Foreign | None = None) -> bytes:
    """The bytes of a value; `stand_in` gives the word for a foreign object, or None. Raises WireError."""
    out: list[bytes] = []
    _write(value, out, Room(stand_in))
    payload = b"".join(out)
    if len(payload) > MAX_FRAME:
        raise WireError("", f"larger than {MAX_FRAME} bytes")
    return payload


def _write(value: Any, out: list[bytes], room: Room) -> None:
    writer = _WRITERS.get(type(value))
    if writer is None:
        word = room.foreign(value) if room.foreign else None
        writer = _WRITERS.get(type(word))
        if word is None or writer is None:
            raise WireError("", f"{name_of(type(value))} is not a plain value")
        value = word
    writer(value, out, room)


def _write_none(value: None, out: list[bytes], room: Room) -> None:
    out.append(b"N")


def _write_bool(value: bool, out: list[bytes], room: Room) -> None:  # noqa: FBT001 - a value like any other
    out.append(b"T" if value else b"F")


def _write_int(value: int, out: list[bytes], room: Room) -> None:
    try:
        out.append(_pack_int(b"i", value))
    except struct.error:
        if value.bit_length() > MAX_INT_BITS:
            raise WireError("", f"int of more than {MAX_INT_BITS} bits") from None
        octets = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        out += (_pack_count(b"I", len(octets)), octets)


def _write_float(value: float, out: list[bytes], room: Room) -> None:
    out.append(_pack_float(b"d", value))


def _write_str(value: str, out: list[bytes], room: Room) -> None:
    room.take(len(value))
    try:
        octets = value.encode()
    except UnicodeEncodeError:
        raise WireError("", "str with a lone surrogate") from None
    out += (_pack_count(b"s", len(octets)), octets)


def _write_bytes(value: bytes, out: list[bytes], room: Room) -> None:
    room.take(len(value))
    out += (_pack_count(b"b", len(value)), value)


def _write_list(value: list[Any], out: list[bytes], room: Room) -> None:
    # A copy, so that a thread that appends meanwhile can't make the count a lie.
    _write_sequence(b"l", b"p", tuple(value), out, room)


def _write_tuple(value: tuple[Any, ...], out: list[bytes], room: Room) -> None:
    _write_sequence(b"t", b"q", value, out, room)


def _write_sequence(tag: bytes, packed_tag: bytes, items: tuple[Any, ...], out: list[bytes], room: Room) -> None:
    room.enter(len(items))
    if not (items and type(items[0]) is int and _write_packed(packed_tag, items, out, room)):
        out.append(_pack_count(tag, len(items)))
        _write_items(items, out, room)
    room.depth += 1


def _write_packed(tag: bytes, items: tuple[Any, ...], out: list[bytes], room: Room) -> bool:
    if set(map(type, items)) != _ONLY_INTS:
        return False
    try:
        octets = struct.pack(f"<{len(items)}q", *items)
    except struct.error:
        return False
    room.take(len(octets))
    out += (_pack_count(tag, len(items)), octets)
    return True


def _write_items(items: Iterable[Any], out: list[bytes], room: Room) -> None:
    index = 0
    try:
        for index, item in enumerate(items):  # noqa: B007 - read in the except clause
            writer = _WRITERS.get(type(item)) or _write  # the usual case without a call in between
            writer(item, out, room)
    except WireError as error:
        raise error.under(f"[{index}]") from None


def _write_dict(value: dict[Any, Any], out: list[bytes], room: Room) -> None:
    entries = tuple(value.items())
    room.enter_hashed(len(entries), 2)
    out.append(_pack_count(b"m", len(entries)))
    for key, item in entries:
        try:
            _write(key, out, room)
            _write(item, out, room)
        except WireError as error:
            raise error.under(f"[{key!r}]" if type(key) in (int, str) and len(repr(key)) < 40 else "[…]") from None
    room.depth += 1


def _write_set(value: set[Any] | frozenset[Any], out: list[bytes], room: Room) -> None:
    items = tuple(value)
    room.enter_hashed(len(items), 1)
    out.append(_pack_count(b"e" if type(value) is set else b"f", len(items)))
    _write_items(items, out, room)
    room.depth += 1


def _write_handle(value: Handle, out: list[bytes], room: Room) -> None:
    out.append(_pack_count(b"H", value.number))


def _write_record(value: Record, out: list[bytes], room: Room) -> None:
    _write_parts(b"R", (value.name, value.fields), out, room)


def _write_array(value: Array, out: list[bytes], room: Room) -> None:
    _write_parts(b"A", (value.dtype, value.shape, value.strides, value.data), out, room)


def _write_parts(tag: bytes, parts: tuple[Any, ...], out: list[bytes], room: Room) -> None:
    room.enter(len(parts))
    out.append(tag)
    for part in parts:
        _write(part, out, room)
    room.depth += 1


_WRITERS: Final[dict[type, _Writer]] = {
    type(None): _write_none,
    bool: _write_bool,
    int: _write_int,
    float: _write_float,
    str: _write_str,
    bytes: _write_bytes,
    list: _write_list,
    tuple: _write_tuple,
    dict: _write_dict,
    set: _write_set,
    frozenset: _write_set,
    Handle: _write_handle,
    Record: _write_record,
    Array: _write_array,
}
