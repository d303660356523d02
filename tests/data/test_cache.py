"""The disk cache: never mixes up, never breaks, stays bounded."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from ddcl_core.data.cache import ArrayCache, cache_folder, content_key, pack_json, unpack_json

KEY = content_key("key")


def filled(folder, **kwargs):
    cache = ArrayCache("t", folder, **kwargs)
    assert cache.put(KEY, {"a": np.arange(5000, dtype=np.float32), "w": pack_json(["wört", "##b"])})
    return cache


def test_round_trip(tmp_path):
    entry = filled(tmp_path).get(KEY)
    assert entry["a"].dtype == np.float32 and entry["a"].tolist() == list(range(5000))
    assert unpack_json(entry["w"]) == ["wört", "##b"]
    assert ArrayCache("t", tmp_path).get(content_key("other")) is None
    assert ArrayCache("u", tmp_path).get(KEY) is None
    assert [p.name for p in (tmp_path / "t").iterdir()] == [KEY + ".npz"]  # nothing half-written is left


def test_keys_tell_contents_apart():
    values = [["ab", "c"], ["a", "bc"], ["abc"], "abc", {"a": 1}, {"a": 1.5}, {"a": "1"}, {"b": 1}, ["abc", None]]
    values.append("ab\ud83d")  # a lone surrogate
    assert len({content_key(v) for v in values}) == len(values)
    assert content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})
    with pytest.raises(ValueError):
        content_key(float("nan"))


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "text", "pickle"])
def test_a_damaged_entry_counts_as_missing_and_is_replaced(tmp_path, damage):
    cache = filled(tmp_path)
    path = tmp_path / "t" / (KEY + ".npz")
    content = bytearray(path.read_bytes())
    if damage == "empty":
        content = b""
    elif damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "flipped":
        content[len(content) // 2] ^= 0x55  # in the middle of the numbers: only a checksum can tell
    elif damage == "text":
        content = b"not an archive"
    else:
        content = pickle.dumps({"a": 1})
    path.write_bytes(bytes(content))
    assert cache.get(KEY) is None and not path.exists()
    filled(tmp_path)
    assert cache.get(KEY)["a"][4999] == 4999


def test_pickled_objects_are_neither_written_nor_read(tmp_path):
    cache = filled(tmp_path)
    with pytest.raises(ValueError, match="pickle"):
        cache.put(KEY, {"a": np.array([{}], dtype=object)})
    np.savez(tmp_path / "t" / (KEY + ".npz"), a=np.array([{}], dtype=object))
    assert cache.get(KEY) is None


def test_the_entries_used_longest_ago_go_first(tmp_path):
    cache = ArrayCache("t", tmp_path, limit_mb=0.035)  # three entries of 10 kB, not four
    keys = [content_key(i) for i in range(4)]
    for age, key in enumerate(keys[:3]):
        cache.put(key, {"a": np.zeros(10_000, np.uint8)})
        os.utime(tmp_path / "t" / (key + ".npz"), (age, age))
    cache.get(keys[0])  # used just now, so the second one is the oldest
    cache.put(keys[3], {"a": np.zeros(10_000, np.uint8)})
    assert [cache.get(key) is not None for key in keys] == [True, False, True, True]


def test_one_entry_over_the_limit_is_still_kept(tmp_path):
    assert filled(tmp_path, limit_mb=0.0).get(KEY) is not None


def test_a_disk_that_does_not_take_it_is_no_error(tmp_path):
    (tmp_path / "t").write_text("a file where the folder should be")
    cache = ArrayCache("t", tmp_path)
    assert cache.put(KEY, {"a": np.zeros(3)}) is False
    assert cache.get(KEY) is None


def test_a_key_cannot_leave_the_folder(tmp_path):
    with pytest.raises(ValueError):
        ArrayCache("t", tmp_path).get("../secret")


def test_settings_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("DDCL_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("DDCL_CACHE_MB", "2.5")
    assert cache_folder() == tmp_path and ArrayCache("x").limit_bytes == 2.5e6
    monkeypatch.setenv("DDCL_CACHE_DIR", "~/elsewhere")
    monkeypatch.setenv("DDCL_CACHE_MB", "much")
    assert cache_folder() == Path.home() / "elsewhere" and ArrayCache("x").limit_bytes == 1024e6
    monkeypatch.delenv("DDCL_CACHE_DIR")
    assert cache_folder().name == "ddcl-lab"
