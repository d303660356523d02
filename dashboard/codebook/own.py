"""Pictures that people have loaded, kept in the page process; a configuration names them by a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dashboard.engine.shelf import Shelf
from dashboard.process_state import once
from ddcl_core.errors import InputError

if TYPE_CHECKING:
    from ddcl_core.codebook.images import ImageSet

MAX_BYTES = 200 * 2**20  # of all kept pictures together


class OwnImages:
    """Reference -> ImageSet; the ones used longest ago make room. Thread-safe."""

    def __init__(self, limit: int = MAX_BYTES) -> None:
        self._shelf = Shelf(limit)

    def read(self, files: Sequence[tuple[str, bytes]], config: Any, seed: int) -> str:
        """Read pictures and keep them under the reference that is returned. Raises InputError with one sentence."""
        from ddcl_core.codebook.own_images import read_images

        images = read_images(files, config, seed)
        digest = hashlib.sha256(repr((config, seed)).encode())
        for name, content in files:
            digest.update(name.encode() + b"\0" + content)
        reference = digest.hexdigest()[:32]
        self._shelf.put(reference, images, images.train.nbytes + images.held_out.nbytes)
        return reference

    def held(self, config: Any) -> ImageSet | None:
        """The pictures a configuration refers to; None when it needs none. Raises InputError when they are gone."""
        if config.images.kind != "own":
            return None
        found = self._shelf.get(config.images.reference)
        if found is None:
            raise InputError("The server no longer has these pictures; load them again.")
        return found


def own_images() -> OwnImages:
    """The pictures of this server process."""
    return once("own images", OwnImages)
