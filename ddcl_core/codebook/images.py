"""Images a codebook run trains on, as numpy arrays, with where they come from. Imports no torch."""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ddcl_core.codebook.config import ImageConfig
from ddcl_core.errors import InputError

SIZE = 32
_DIGIT_SIZE = 16
_STRIDE = 16  # overlapping training patches: twice as many a side


@dataclass(frozen=True)
class ImageSet:
    """Images in uint8: train (N, H, W, C), held_out (E, H, W, C), C = 1 (grey) or 3; H, W multiples of 4.

    held_out is never trained on, unless `notes` says that there were too few. train_labels, held_out_labels: int64,
    into class_names (photographs have their own names as classes). source: origin and licence, one sentence.
    Raises InputError for arrays that do not fit.
    """

    train: np.ndarray
    held_out: np.ndarray
    name: str
    source: str
    train_labels: np.ndarray | None = None
    held_out_labels: np.ndarray | None = None
    class_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def num_documents(self) -> int:
        """E, the images kept apart, which are the ones shown."""
        return len(self.held_out)

    def __post_init__(self) -> None:
        for part in (self.train, self.held_out):
            if part.ndim != 4 or part.dtype != np.uint8 or not len(part) or part.shape[3] not in (1, 3):
                raise InputError(
                    f"The images are {part.dtype} of shape {part.shape}; they must be uint8 (N, H, W, C), C = 1 or 3."
                )
            if part.shape[1] % 4 or part.shape[2] % 4 or part.shape[1:] != self.train.shape[1:]:
                raise InputError(f"Images of {part.shape[1]} x {part.shape[2]} pixels do not fit; use multiples of 4.")


def load_images(config: ImageConfig, seed: int = 7) -> ImageSet:
    """The images that `config` names, drawn by `seed`; own images come from `own_images.read_images` instead.

    Raises InputError when they cannot be had.
    """
    rng = np.random.default_rng(seed)
    if config.kind == "own":
        raise InputError("Own images must be handed to the run; read them with read_images(files) and pass the result.")
    return {"patches": _patches, "digits": _digits, "cifar10": _cifar10}[config.kind](config, rng)


def _patches(config: ImageConfig, rng: np.random.Generator) -> ImageSet:
    from sklearn.datasets import load_sample_images

    photos = load_sample_images()
    names = tuple(Path(name).stem for name in photos.filenames)
    train, held_out, train_labels, held_out_labels = cut_patches(photos.images, config, rng)
    return ImageSet(
        train, held_out, "photo patches",
        "32 x 32 patches of the two photographs that come with scikit-learn (china.jpg and flower.jpg, CC BY).",
        train_labels, held_out_labels, names,
    )  # fmt: skip


def cut_patches(
    photos: list[np.ndarray], config: ImageConfig, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Patches (n, 32, 32, C) of photographs (H, W, C): training, held-out, and which photograph each is from.

    Held-out cells of a 32-pixel grid are drawn first; training patches lie on a 16-pixel grid and touch none of them.
    """
    cells = [(p, y, x) for p, image in enumerate(photos) for y in range(0, image.shape[0] - SIZE + 1, SIZE)
             for x in range(0, image.shape[1] - SIZE + 1, SIZE)]  # fmt: skip
    apart = min(config.eval_images, len(cells) // 8)
    drawn = [cells[i] for i in rng.permutation(len(cells))[:apart]]  # in an order that shows both photographs at once
    kept = set(drawn)
    free = [(p, y, x) for p, image in enumerate(photos) for y in range(0, image.shape[0] - SIZE + 1, _STRIDE)
            for x in range(0, image.shape[1] - SIZE + 1, _STRIDE) if not _touches(kept, p, y, x)]  # fmt: skip
    if not free:
        raise InputError("The images are too small to cut patches from; use images of at least 32 x 32 pixels.")
    chosen = [free[i] for i in rng.permutation(len(free))[: config.num_images]]
    held_out = drawn or chosen[: config.eval_images]

    def cut(places: list[tuple[int, int, int]]) -> np.ndarray:
        return np.stack([photos[p][y : y + SIZE, x : x + SIZE] for p, y, x in places])

    labels = [np.array([p for p, _, _ in places], dtype=np.int64) for places in (chosen, held_out)]
    return cut(chosen), cut(held_out), *labels


def _touches(kept: set[tuple[int, int, int]], photo: int, y: int, x: int) -> bool:
    corners = {((y + dy) // SIZE * SIZE, (x + dx) // SIZE * SIZE) for dy in (0, SIZE - 1) for dx in (0, SIZE - 1)}
    return any((photo, top, left) in kept for top, left in corners)


def _digits(config: ImageConfig, rng: np.random.Generator) -> ImageSet:
    from sklearn.datasets import load_digits

    digits = load_digits()
    values = np.rint(digits.images * (255.0 / 16.0)).astype(np.uint8)  # N, 8, 8
    images = values.repeat(_DIGIT_SIZE // 8, 1).repeat(_DIGIT_SIZE // 8, 2)[..., None]  # N, 16, 16, 1
    return _drawn(
        images, digits.target, None, None, config, rng, "digits", tuple(map(str, range(10))),
        "Handwritten digits of scikit-learn (UCI, test part of Optdigits, CC BY 4.0), each pixel doubled to 16 x 16.",
    )  # fmt: skip


def _cifar10(config: ImageConfig, rng: np.random.Generator) -> ImageSet:
    folder = os.environ.get("DDCL_DATA_DIR", "").strip()
    path = Path(folder).expanduser() / "cifar10_subset.npz" if folder else None
    origin = "CIFAR-10 (Krizhevsky 2009)"
    if path is not None and path.is_file():
        try:
            with np.load(path, allow_pickle=False) as data:
                arrays = [data[name] for name in ("x_train", "y_train", "x_test", "y_test")]
                classes = tuple(map(str, data["classes"])) if "classes" in data else ()
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{path} cannot be read as CIFAR-10 ({error}); it must be an .npz file with "
                "x_train, y_train, x_test, y_test."
            ) from error
        origin += f", {len(arrays[0])} + {len(arrays[2])} images from DDCL_DATA_DIR."
    else:
        arrays, classes = _torchvision_cifar10(folder)
        origin += " through torchvision."
    x_train, y_train, x_test, y_test = arrays
    return _drawn(x_train, y_train, x_test, y_test, config, rng, "CIFAR-10", classes, origin)


def _torchvision_cifar10(folder: str) -> tuple[list[np.ndarray], tuple[str, ...]]:
    advice = "put cifar10_subset.npz into a folder and name it in DDCL_DATA_DIR, or choose the photo patches"
    try:
        from torchvision.datasets import CIFAR10
    except ImportError as error:
        raise InputError(f"CIFAR-10 is not here; {advice} (or install torchvision, which downloads it).") from error
    from ddcl_core.data.cache import cache_folder

    root = folder or str(cache_folder())
    try:
        parts = [CIFAR10(root, train=train, download=True) for train in (True, False)]
    except Exception as error:  # torchvision raises whatever urllib, tarfile or its own checks raise
        raise InputError(f"CIFAR-10 could not be downloaded ({error}); {advice}.") from error
    arrays = [array for part in parts for array in (part.data, np.asarray(part.targets))]
    return arrays, tuple(parts[0].classes)


def _drawn(
    x: np.ndarray, y: np.ndarray, x_test: np.ndarray | None, y_test: np.ndarray | None, config: ImageConfig,
    rng: np.random.Generator, name: str, classes: tuple[str, ...], source: str,
) -> ImageSet:  # fmt: skip
    order = rng.permutation(len(x))
    if x_test is None or y_test is None:
        x_test, y_test, apart = x, y, order[: config.eval_images]
        order = order[config.eval_images :]
    else:
        apart = rng.permutation(len(x_test))[: config.eval_images]
    order = order[: config.num_images]
    return ImageSet(
        x[order], x_test[apart], name, source, y[order].astype(np.int64), y_test[apart].astype(np.int64), classes
    )
