"""Catalogues and documents that people have loaded, kept in the page process under the digest of their content.

A configuration names one by its reference, so that neither links nor snapshots nor every message to a worker carry a
file of megabytes. The workers get the catalogue itself, once for each scene, with whatever cluster they belong to.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from dashboard.process_state import once
from ddcl_core.config import DataConfig
from ddcl_core.errors import InputError

if TYPE_CHECKING:
    from ddcl_core.data.tables import OwnDocuments
    from ddcl_core.orbits import Catalogue

    Upload = Catalogue | OwnDocuments

_PREFIX = "upload:"
MAX_OBJECTS = 300_000  # of all kept uploads together, some 60 MB of catalogues


class Uploads:
    """Reference -> what was read; the ones used longest ago make room. Thread-safe."""

    def __init__(self, limit: int = MAX_OBJECTS) -> None:
        self._kept: OrderedDict[str, Upload] = OrderedDict()
        self._limit = limit
        self._lock = threading.Lock()

    def keep(self, content: bytes, upload: Upload) -> str:
        """Keep what was read from `content`, and return its reference; the same content has the same one."""
        reference = _PREFIX + hashlib.sha256(content).hexdigest()[:32]
        with self._lock:
            self._kept[reference] = upload
            self._kept.move_to_end(reference)
            while len(self._kept) > 1 and sum(map(len, self._kept.values())) > self._limit:
                self._kept.popitem(last=False)
        return reference

    def held(self, data: DataConfig) -> Upload | None:
        """The catalogue or documents that a configuration refers to; None when it refers to none.

        Raises InputError when it has been let go of.
        """
        if data.kind not in ("orbits", "custom") or len(data.texts) != 1 or not data.texts[0].startswith(_PREFIX):
            return None
        with self._lock:
            found = self._kept.get(data.texts[0])
            if found is None:
                what = "this catalogue" if data.kind == "orbits" else "these documents"
                raise InputError(f"The server no longer has {what}; load the file again.")
            self._kept.move_to_end(data.texts[0])
            return found


def uploads() -> Uploads:
    """The uploads of this server process."""
    return once("uploads", Uploads)
