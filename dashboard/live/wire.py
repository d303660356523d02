"""Binary bundles: one JSON header and several arrays in one message.

Layout: uint32 little-endian H | header JSON in UTF-8, padded with spaces so that 4 + H is a multiple of 8 | payload.
The header's "arrays" maps a name to {"dtype", "shape", "offset"}; offsets count from the start of the payload and are
multiples of 8, so that a browser can lay typed arrays over the message without copying.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from ddcl_core.errors import InputError

DTYPES = {
    "f4": np.dtype("<f4"),
    "i4": np.dtype("<i4"),
    "i2": np.dtype("<i2"),
    "u2": np.dtype("<u2"),
    "u1": np.dtype("u1"),
}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_ALIGN = 8
_MAX_HEADER = 16 * 2**20


def pack(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray] | None = None) -> bytes:
    """One message from a JSON-able header and arrays of the wire's dtypes (f4, i4, i2, u2, u1).

    Non-finite floats stay as they are inside arrays; in the header they become null, because JSON has no NaN.
    Raises InputError for a dtype that the wire does not know.
    """
    table: dict[str, Any] = {}
    parts: list[bytes] = []
    offset = 0
    for name, array in (arrays or {}).items():
        array = np.asarray(array, order="C")
        dtype = array.dtype.newbyteorder("<") if array.dtype.itemsize > 1 else array.dtype
        if dtype not in _NAMES:
            raise InputError(f"Array {name!r} has dtype {array.dtype}; the wire carries {', '.join(DTYPES)}.")
        raw = array.astype(dtype, copy=False).tobytes()
        table[name] = {"dtype": _NAMES[dtype], "shape": list(array.shape), "offset": offset}
        padding = -len(raw) % _ALIGN
        parts += [raw, b"\0" * padding]
        offset += len(raw) + padding
    text = json.dumps({**plain(header), "arrays": table}, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-(4 + len(text)) % _ALIGN)
    return b"".join([struct.pack("<I", len(text)), text, *parts])


def unpack(message: bytes | bytearray | memoryview) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header (without "arrays") and read-only views of the arrays; raises InputError when the message is damaged."""
    view = memoryview(message)
    try:
        (length,) = struct.unpack_from("<I", view)
        if length > _MAX_HEADER or 4 + length > len(view):
            raise ValueError("the header is longer than the message")
        header = json.loads(bytes(view[4 : 4 + length]))
        table = header.pop("arrays")
        payload = view[4 + length :]
        arrays = {name: _read(payload, entry) for name, entry in table.items()}
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"The message is damaged and cannot be read ({error}); ask for it again.") from error
    return header, arrays


def with_header(message: bytes, **changes: Any) -> bytes:
    """The same message with some header entries changed; the payload is copied, not parsed."""
    (length,) = struct.unpack_from("<I", message)
    header = json.loads(message[4 : 4 + length])
    text = json.dumps({**header, **plain(changes)}, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-(4 + len(text)) % _ALIGN)
    return b"".join([struct.pack("<I", len(text)), text, message[4 + length :]])


def plain(value: Any) -> Any:
    """JSON-able copy: numpy scalars become numbers, tuples lists, and non-finite numbers None."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _read(payload: memoryview, entry: Mapping[str, Any]) -> np.ndarray:
    dtype = DTYPES[entry["dtype"]]
    shape = tuple(entry["shape"])
    offset = entry["offset"]
    if not all(type(n) is int and n >= 0 for n in (*shape, offset)):
        raise ValueError("a shape or an offset is not a whole number")
    count = math.prod(shape)
    if offset + count * dtype.itemsize > len(payload):
        raise ValueError("an array reaches past the end")
    return np.frombuffer(payload, dtype, count, offset).reshape(shape)
