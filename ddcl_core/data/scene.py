"""A scene: the tokens that a run trains on, with everything that a page says about them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ddcl_core.config import DataConfig
from ddcl_core.data.plane import Plane
from ddcl_core.data.progress import Cancelled, Progress, checkpoint
from ddcl_core.data.projection import Projection
from ddcl_core.errors import InputError


@dataclass(frozen=True, eq=False)
class TokenScene:
    """B documents of up to T tokens in R^d. Numpy only, so that every process can hold one.

    tokens: (B, T, d) float32, 0 at padding. mask: (B, T) bool, True = real token; padding stands at the end.
    labels: (B,) int64, class of each document. token_labels: (B, T) int64, the token's topic (synthetic) or the class
        of its document; -1 at padding. class_names: the name of each class.
    words: B lists, one surface form for each real token. texts: the B documents as read, or None.
    name: short title. source: origin and licence in one sentence.
    explained_variance: share of the token variance that the projection to d keeps; None without a projection.
    notes: sentences that a reader of the numbers should know, such as what was cut off.
    projection: how the language model's vectors became tokens; None for tokens that come from none.
    planes: still maps of coordinates that the tokens have anyway, each with a position for every real token.

    Raises:
        InputError: no document, no real token, a non-finite value, or shapes that do not fit together.
    """

    tokens: np.ndarray
    mask: np.ndarray
    labels: np.ndarray
    token_labels: np.ndarray
    class_names: tuple[str, ...]
    words: list[list[str]]
    texts: list[str] | None
    name: str
    source: str
    explained_variance: float | None = None
    notes: list[str] = field(default_factory=list)
    planes: tuple[Plane, ...] = ()
    projection: Projection | None = None

    def __post_init__(self) -> None:
        mask = np.ascontiguousarray(self.mask, dtype=bool)
        tokens = np.array(self.tokens, dtype=np.float32, order="C")
        if tokens.ndim != 3 or mask.shape != tokens.shape[:2]:
            raise InputError(
                f"Tokens of shape {tokens.shape} and a mask of shape {mask.shape} do not fit together; "
                "they must be (B, T, d) and (B, T)."
            )
        if not mask.any():
            raise InputError("There is no token in these documents; add at least one document with text in it.")
        if (mask[:, 1:] & ~mask[:, :-1]).any():
            raise InputError("A document has padding before a real token; put all padding at the end of its row.")
        tokens[~mask] = 0.0
        if not np.isfinite(tokens).all():
            raise InputError("Some token values are not finite (NaN or infinity); remove those documents.")
        labels = np.asarray(self.labels, dtype=np.int64)
        if np.shape(self.token_labels) != mask.shape:
            raise InputError(f"token_labels has shape {np.shape(self.token_labels)}; it must be {mask.shape}.")
        token_labels = np.where(mask, np.asarray(self.token_labels, dtype=np.int64), -1)
        B, C = len(tokens), len(self.class_names)
        if labels.shape != (B,) or labels.min() < 0 or max(labels.max(), token_labels.max()) >= C:
            raise InputError(f"The labels must be {B} numbers from 0 to {C - 1}, one for each document.")
        if token_labels[mask].min() < 0:
            raise InputError(f"Every real token needs a label from 0 to {C - 1}.")
        if [len(row) for row in self.words] != mask.sum(axis=1).tolist():
            raise InputError("There must be exactly one word for each real token of each document.")
        if self.texts is not None and len(self.texts) != B:
            raise InputError(f"There are {B} documents but {len(self.texts)} texts; give one for each.")
        for plane in self.planes:
            if len(plane.positions) != mask.sum():
                raise InputError(
                    f"The plane {plane.name!r} has {len(plane.positions)} positions for {mask.sum()} tokens; give each one."
                )
        values = {"tokens": tokens, "mask": mask, "labels": labels, "token_labels": token_labels}
        for name, array in values.items():
            object.__setattr__(self, name, array)

    @property
    def num_documents(self) -> int:
        """B."""
        return len(self.tokens)

    @property
    def num_tokens(self) -> int:
        """Number of real tokens N."""
        return int(self.mask.sum())

    @property
    def dim(self) -> int:
        """d."""
        return self.tokens.shape[2]


def load_scene(
    config: DataConfig, seed: int, progress: Progress | None = None, cancelled: Cancelled | None = None
) -> TokenScene:
    """The scene that `config` and `seed` describe; the same pair gives the same scene.

    Args:
        config: kind and size. For documents, `seed` chooses them; for synthetic tokens it makes them.
        progress: called with a fraction from 0 to 1 and a plain sentence; from the calling thread.
        cancelled: asked between batches; when it answers True, LoadingCancelled is raised.

    Raises:
        InputError: data or model cannot be found, do not match their checksum, or cannot give `config.dim` dimensions.
        LoadingCancelled: the caller wanted no more.
    """
    checkpoint(progress, cancelled, 0.0, "Preparing the tokens")
    if config.kind == "synthetic":
        from ddcl_core.data.synthetic import synthetic_scene

        scene = synthetic_scene(config, seed)
    elif config.kind == "orbits":
        from ddcl_core.orbits.scene import orbit_scene

        scene = orbit_scene(config, seed)
    else:
        from ddcl_core.data.document_scene import document_scene

        scene = document_scene(config, seed, progress, cancelled)
    checkpoint(progress, None, 1.0, "The tokens are ready")
    return scene
