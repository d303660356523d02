"""Catalogues and documents that people have loaded, kept in the page process under the digest of their content.

A configuration names one by its reference, so that neither links nor snapshots nor every message to a worker carry a
file of megabytes. The workers get the catalogue itself, once for each scene, with whatever cluster they belong to.
"""

from __future__ import annotations

import hashlib
import sys
from typing import TYPE_CHECKING

from dashboard.engine.shelf import Shelf
from dashboard.process_state import once
from ddcl_core.config import DataConfig
from ddcl_core.errors import InputError

if TYPE_CHECKING:
    from ddcl_core.data.tables import OwnDocuments
    from ddcl_core.orbits import Catalogue

    Upload = Catalogue | OwnDocuments

_PREFIX = "upload:"
MAX_BYTES = 400 * 2**20  # of all kept uploads together
_OBJECT_BYTES = 200  # of one object of a catalogue


class Uploads:
    """Reference -> what was read; the ones used longest ago make room. Thread-safe."""

    def __init__(self, limit: int = MAX_BYTES) -> None:
        self._shelf = Shelf(limit)

    def keep(self, content: bytes, upload: Upload) -> str:
        """Keep what was read from `content`, and return its reference; the same content has the same one."""
        reference = _PREFIX + hashlib.sha256(content).hexdigest()[:32]
        self._shelf.put(reference, upload, _size(upload))
        return reference

    def held(self, data: DataConfig) -> Upload | None:
        """The catalogue or documents that a configuration refers to; None when it refers to none.

        Raises InputError when it has been let go of.
        """
        if data.kind not in ("orbits", "custom") or len(data.texts) != 1 or not data.texts[0].startswith(_PREFIX):
            return None
        found = self._shelf.get(data.texts[0])
        if found is None:
            what = "this catalogue" if data.kind == "orbits" else "these documents"
            raise InputError(f"The server no longer has {what}; load the file again.")
        return found


def _size(upload: Upload) -> int:
    texts = getattr(upload, "texts", None)
    return _OBJECT_BYTES * len(upload) if texts is None else sum(map(sys.getsizeof, texts))


def uploads() -> Uploads:
    """The uploads of this server process."""
    return once("uploads", Uploads)
