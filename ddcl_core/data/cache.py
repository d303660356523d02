"""Arrays on disk under a key made of their whole content: what was computed once is read back, never mixed up."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

DEFAULT_LIMIT_MB = 1024.0
_SUFFIX = ".npz"
_DAMAGE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)


def cache_folder() -> Path:
    """`DDCL_CACHE_DIR` if it is set, else the platform's cache folder: ~/.cache/ddcl-lab on Linux."""
    chosen = os.environ.get("DDCL_CACHE_DIR", "").strip()
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "ddcl-lab"


def content_key(value: Any) -> str:
    """SHA-256 (64 hex digits) of a value made of dictionaries, lists, strings, numbers and None.

    The order of a dictionary's entries does not matter, everything else does.
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class ArrayCache:
    """Named arrays under content keys, one `.npz` file an entry, without pickle.

    Writing is atomic, so a reader or a crash never meets half a file and processes may share a folder. A damaged entry
    (its checksum is verified) counts as missing and is removed. When the folder grows beyond the limit, the entries
    that were used longest ago go first. The cache never raises for a full, read-only or vanished disk: it then stores
    nothing, and everything is computed again.

    Args:
        section: subfolder, one for each kind of content.
        folder: parent folder; `cache_folder()` by default, asked anew at each use.
        limit_mb: size limit of the section in megabytes (10^6 bytes); `DDCL_CACHE_MB` or 1024 by default.
    """

    def __init__(self, section: str, folder: Path | None = None, limit_mb: float | None = None) -> None:
        self.section, self._folder, self._limit_mb = section, folder, limit_mb

    @property
    def folder(self) -> Path:
        """Where the entries lie."""
        return (self._folder or cache_folder()) / self.section

    @property
    def limit_bytes(self) -> float:
        """Size limit of the section."""
        if self._limit_mb is not None:
            return self._limit_mb * 1e6
        try:
            return float(os.environ.get("DDCL_CACHE_MB", "")) * 1e6
        except ValueError:
            return DEFAULT_LIMIT_MB * 1e6

    def get(self, key: str) -> dict[str, np.ndarray] | None:
        """The entry's arrays, or None when there is none that can be read."""
        path = self._path(key)
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as entry:
                arrays = {name: entry[name] for name in entry.files}
        except FileNotFoundError:
            return None
        except _DAMAGE:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the time of the last use, for `_trim`
        return arrays

    def put(self, key: str, arrays: Mapping[str, np.ndarray]) -> bool:
        """Store the arrays; False when the disk does not take them. Raises ValueError for arrays of objects."""
        if any(np.asarray(a).dtype.hasobject for a in arrays.values()):
            raise ValueError("Arrays of Python objects cannot be stored without pickle.")
        path, temporary = self._path(key), None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".writing-", delete=False) as file:
                temporary = file.name
                np.savez(file, **arrays)
            os.replace(temporary, path)
        except OSError:
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            return False
        self._trim(keep=path)
        return True

    def _path(self, key: str) -> Path:
        if not key.isalnum():
            raise ValueError(f"A cache key is made of letters and digits, not {key!r}.")
        return self.folder / (key + _SUFFIX)

    def _trim(self, keep: Path) -> None:
        entries = []
        for path in self.folder.glob("*" + _SUFFIX):
            with contextlib.suppress(OSError):  # another process may have removed it
                state = path.stat()
                entries.append((path == keep, state.st_mtime_ns, state.st_size, path))
        excess = sum(size for _, _, size, _ in entries) - self.limit_bytes
        for newest, _, size, path in sorted(entries):
            if excess <= 0 or newest:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            excess -= size


def pack_json(value: Any) -> np.ndarray:
    """A JSON value as a uint8 array, so that words and numbers travel beside arrays. `unpack_json` reads it."""
    return np.frombuffer(json.dumps(value).encode("utf-8"), dtype=np.uint8)


def unpack_json(array: np.ndarray) -> Any:
    """What `pack_json` packed."""
    return json.loads(np.asarray(array, dtype=np.uint8).tobytes())
