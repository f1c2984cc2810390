"""Arrays of numpy, where the guest has it. The agent never loads it; a child does when the first array crosses."""

import importlib
import sys
from typing import Any

from .words import ITEM_BYTES, Array, WireError


def from_numpy(value: Any) -> Array | None:
    """The word for exactly a `numpy.ndarray`, made contiguous; None for anything else."""
    numpy = sys.modules.get("numpy")
    if numpy is None or type(value) is not getattr(numpy, "ndarray", None):
        return None
    if value.dtype.name not in ITEM_BYTES or not value.dtype.isnative:
        raise WireError("", f"array of {value.dtype}")
    flat = numpy.ascontiguousarray(value).reshape(value.shape)
    return Array(value.dtype.name, value.shape, flat.strides, flat.tobytes())


def to_numpy(array: Array) -> Any:
    """A writable `numpy.ndarray` over its own copy of the data; the word itself where numpy is not there."""
    try:
        numpy: Any = importlib.import_module("numpy")  # here, so that only a child that is sent an array pays for it
    except ImportError:
        return array
    try:
        dtype = numpy.dtype(array.dtype)
    except TypeError:  # bfloat16
        return array
    return numpy.ndarray(array.shape, dtype, buffer=bytearray(array.data) or bytearray(1), strides=array.strides)
