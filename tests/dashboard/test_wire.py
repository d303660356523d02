"""Bundles: what goes in comes out, and damaged ones are refused."""

from __future__ import annotations

import json
import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dashboard.live import wire
from ddcl_core.errors import InputError

ARRAYS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.array([-1, 2], dtype=np.int16),
    "c": np.zeros((0, 4), dtype=np.uint8),
    "d": np.array(7, dtype=np.int32),
    "e": np.arange(5, dtype=np.uint16)[::-1],
}


def test_round_trip_and_alignment() -> None:
    message = wire.pack({"type": "x", "text": "ε ≤ 1", "none": None}, ARRAYS)
    (length,) = struct.unpack_from("<I", message)
    assert (4 + length) % 8 == 0
    table = json.loads(message[4 : 4 + length])["arrays"]
    assert all(entry["offset"] % 8 == 0 for entry in table.values())
    header, arrays = wire.unpack(message)
    assert header == {"type": "x", "text": "ε ≤ 1", "none": None}
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype and arrays[name].shape == array.shape
        assert np.array_equal(arrays[name], array)


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=8),
        hnp.arrays(
            st.sampled_from([np.dtype(np.float32), np.dtype(np.int16), np.dtype(np.uint8)]),
            hnp.array_shapes(max_dims=3, max_side=4, min_side=0),
        ),
        max_size=4,
    )
)
def test_any_arrays_come_back(arrays: dict[str, np.ndarray]) -> None:
    _, back = wire.unpack(wire.pack({"type": "t"}, arrays))
    assert back.keys() == arrays.keys()
    assert all(np.array_equal(back[n], a, equal_nan=a.dtype.kind == "f") for n, a in arrays.items())


def test_numbers_that_json_lacks_become_null() -> None:
    header, _ = wire.unpack(wire.pack({"a": math.nan, "b": [math.inf, np.float32(1.5)], "c": np.arange(2)}))
    assert header == {"a": None, "b": [None, 1.5], "c": [0, 1]}


def test_unknown_dtype_is_refused() -> None:
    with pytest.raises(InputError, match="float64"):
        wire.pack({}, {"x": np.zeros(2)})


@pytest.mark.parametrize("cut", [0, 3, 4, 20, -1])
def test_cut_messages_are_refused(cut: int) -> None:
    with pytest.raises(InputError):
        wire.unpack(wire.pack({"type": "x"}, {"a": np.ones(4, dtype=np.float32)})[:cut])


@pytest.mark.parametrize(
    "table",
    [
        {"a": {"dtype": "f8", "shape": [1], "offset": 0}},
        {"a": {"dtype": "f4", "shape": [-1], "offset": 0}},
        {"a": {"dtype": "f4", "shape": [10**9, 10**9], "offset": 0}},
        {"a": {"dtype": "f4", "shape": [1], "offset": -4}},
        {"a": {"dtype": "f4", "shape": "x", "offset": 0}},
        {"a": None},
        [],
        None,
    ],
)
def test_damaged_tables_are_refused(table: object) -> None:
    text = json.dumps({"arrays": table}).encode()
    with pytest.raises(InputError):
        wire.unpack(struct.pack("<I", len(text)) + text + bytes(8))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=64))
def test_garbage_never_raises_anything_else(data: bytes) -> None:
    try:
        wire.unpack(data)
    except InputError:
        pass


def test_header_can_be_changed() -> None:
    header, arrays = wire.unpack(wire.with_header(wire.pack({"n": 1}, {"a": np.ones(3, np.float32)}), n=123456, x="y"))
    assert header == {"n": 123456, "x": "y"} and arrays["a"].tolist() == [1, 1, 1]
