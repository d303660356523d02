"""What people have loaded, kept in the page process until it takes too much room. Thread-safe."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any


class Shelf:
    """Reference -> a thing; those used longest ago make room, the last one stays. limit: bytes of all together."""

    def __init__(self, limit: int) -> None:
        self._kept: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._limit = limit
        self._lock = threading.Lock()

    def put(self, reference: str, thing: Any, size: int) -> None:
        """Keep a thing of about `size` bytes."""
        with self._lock:
            self._kept[reference] = (thing, size)
            self._kept.move_to_end(reference)
            while len(self._kept) > 1 and sum(size for _, size in self._kept.values()) > self._limit:
                self._kept.popitem(last=False)

    def get(self, reference: str) -> Any:
        """The thing, or None when it has been let go of."""
        with self._lock:
            if reference not in self._kept:
                return None
            self._kept.move_to_end(reference)
            return self._kept[reference][0]
