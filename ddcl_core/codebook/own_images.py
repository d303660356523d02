"""A person's own pictures: png, jpeg, or a zip of them; any size, transparency and grey. Needs Pillow."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterable

import numpy as np

from ddcl_core.codebook.config import ImageConfig
from ddcl_core.codebook.images import SIZE, ImageSet, cut_patches
from ddcl_core.errors import InputError

MAX_FILES = 5_000
MAX_FILE_BYTES = 50 * 2**20
MAX_TOTAL_BYTES = 500 * 2**20
MAX_PIXELS = 50_000_000
WHOLE_BELOW = 96
"""Pictures whose shorter side is below this are taken whole, as one image; larger ones are cut into patches."""
_PATCH_SIDE = 512  # longest side from which patches are cut: finer grain than this is noise to so small a model
_ENDINGS = (".png", ".jpg", ".jpeg")


def read_images(files: Iterable[tuple[str, bytes]], config: ImageConfig | None = None, seed: int = 7) -> ImageSet:
    """Own pictures as an `ImageSet` of 32 x 32 RGB images.

    files: (name, content) of png, jpeg or zip files. Pictures are turned upright, transparency lies on white, grey
    becomes RGB. A small picture (shorter side below 96) is scaled so that it covers 32 x 32 and cut to its middle; a
    large one is cut into patches as the photographs are. `notes` says what was done and what was left out.
    Raises InputError when no picture can be read, for zip files that cannot, or more than the limits of this module.
    """
    config = ImageConfig(kind="own") if config is None else config
    rng = np.random.default_rng(seed)
    pictures, notes = _unpack(files)
    small, large, failed = [], [], []
    for name, content in pictures:
        try:
            image = _decode(name, content)
        except InputError as error:
            failed.append(error)
            continue
        (small if min(image.size) < WHOLE_BELOW else large).append(image)
    if len(failed) == len(pictures):
        raise failed[0]
    if failed:
        more = f" ({len(failed) - 1} more likewise)" if len(failed) > 1 else ""
        notes.append(f"Left out: {str(failed[0]).partition(';')[0]}{more}.")
    train, held_out = [], []
    if small:
        whole = np.stack([_cover(image) for image in small])[rng.permutation(len(small))]
        apart = min(config.eval_images, len(whole) // 8)
        held_out.append(whole[:apart])
        train.append(whole[apart:])
        notes.append(f"{len(small)} small picture(s) taken whole, scaled to {SIZE} x {SIZE}.")
    if large:
        parts = cut_patches([_shrink(image) for image in large], config, rng)
        train.append(parts[0])
        held_out.append(parts[1])
        notes.append(f"{len(large)} picture(s) cut into {SIZE} x {SIZE} patches.")
    trained = np.concatenate(train)
    trained = trained[rng.permutation(len(trained))[: config.num_images]]
    apart = np.concatenate(held_out)
    apart = apart[rng.permutation(len(apart))[: config.eval_images]]
    if not len(apart):
        apart = trained[: config.eval_images]
        notes.append("So few pictures that the figures are measured on the ones trained on.")
    return ImageSet(trained, apart, "own pictures", "Your own pictures; they stay on this machine.", notes=tuple(notes))


def _unpack(files: Iterable[tuple[str, bytes]]) -> tuple[list[tuple[str, bytes]], list[str]]:
    pictures: list[tuple[str, bytes]] = []
    skipped, total = 0, 0

    def add(name: str, content: bytes) -> None:
        nonlocal total
        total += len(content)
        if len(content) > MAX_FILE_BYTES or total > MAX_TOTAL_BYTES or len(pictures) >= MAX_FILES:
            raise InputError(
                f"Too much at {name!r}: at most {MAX_FILES} pictures, {MAX_FILE_BYTES >> 20} MB each and "
                f"{MAX_TOTAL_BYTES >> 20} MB together; leave some out."
            )
        pictures.append((name, content))

    for name, content in files:
        if not name.lower().endswith(".zip"):
            add(name, bytes(content))
            continue
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                for entry in archive.infolist():
                    hidden = entry.filename.startswith("__MACOSX") or entry.filename.split("/")[-1].startswith(".")
                    if entry.is_dir() or hidden or not entry.filename.lower().endswith(_ENDINGS):
                        skipped += not entry.is_dir()
                        continue
                    if entry.file_size > MAX_FILE_BYTES:
                        raise InputError(
                            f"{entry.filename!r} in {name!r} is over {MAX_FILE_BYTES >> 20} MB; leave it out."
                        )
                    add(f"{name}/{entry.filename}", archive.read(entry))
        except (
            zipfile.BadZipFile,
            zipfile.LargeZipFile,
            RuntimeError,
            NotImplementedError,
            OSError,
            EOFError,
        ) as error:
            raise InputError(f"{name!r} cannot be unpacked ({error}); send a zip file without a password.") from error
        except zipfile.zlib.error as error:
            raise InputError(f"{name!r} is damaged ({error}); pack it anew.") from error
    if not pictures:
        raise InputError("There is no picture in what was sent; send png or jpeg files, or a zip file that holds some.")
    return pictures, [f"{skipped} file(s) that are no png or jpeg were left out."] if skipped else []


def _decode(name: str, content: bytes):
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit below is stricter
            image = Image.open(io.BytesIO(content), formats=("PNG", "JPEG"))
            if image.size[0] * image.size[1] > MAX_PIXELS:
                raise InputError(
                    f"{name!r} has {image.size[0]} x {image.size[1]} pixels; at most {MAX_PIXELS} are read."
                )
            image.load()
        image = ImageOps.exif_transpose(image)
        if image.mode in ("I", "I;16", "I;16B", "F"):  # 16-bit grey, which Pillow would clip instead of scale
            image = Image.fromarray((np.asarray(image, dtype=np.float64) / 257.0).clip(0, 255).astype(np.uint8))
        if image.has_transparency_data:
            image = image.convert("RGBA")
            image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
        return image.convert("RGB")
    except InputError:
        raise
    except Exception as error:  # Pillow's decoders raise many kinds for damaged files
        raise InputError(
            f"{name!r} cannot be read as a picture; send png or jpeg files that open elsewhere."
        ) from error


def _cover(image) -> np.ndarray:
    from PIL import Image, ImageOps

    return np.asarray(ImageOps.fit(image, (SIZE, SIZE), Image.Resampling.LANCZOS))


def _shrink(image) -> np.ndarray:
    from PIL import Image

    scale = max(min(1.0, _PATCH_SIDE / max(image.size)), (SIZE + 1) / min(image.size))
    size = tuple(max(SIZE, round(side * scale)) for side in image.size)
    return np.asarray(image if size == image.size else image.resize(size, Image.Resampling.LANCZOS))
