"""Images: the embedded ones, CIFAR-10 where it lies, and what people send."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from PIL import Image

from ddcl_core import InputError
from ddcl_core.codebook import ImageConfig, ImageSet, load_images
from ddcl_core.codebook.own_images import read_images


def encoded(array: np.ndarray, kind: str = "PNG", mode: str | None = None, **options) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(array, mode).save(buffer, kind, **options)
    return buffer.getvalue()


def noise(h: int, w: int, channels: int = 3, seed: int = 0) -> np.ndarray:
    shape = (h, w, channels) if channels > 1 else (h, w)
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def test_patches_are_real_seeded_and_never_leak():
    a, b = (
        load_images(ImageConfig(num_images=400, eval_images=20), 3),
        load_images(ImageConfig(num_images=400, eval_images=20), 3),
    )
    assert a.train.shape == (400, 32, 32, 3) and a.held_out.shape == (20, 32, 32, 3)
    assert np.array_equal(a.train, b.train) and np.array_equal(a.held_out, b.held_out)
    assert not np.array_equal(a.train, load_images(ImageConfig(num_images=400), 4).train)
    quarters = {x[y : y + 16, c : c + 16].tobytes() for x in a.held_out for y in (0, 16) for c in (0, 16)}
    leaked = [x for x in a.train for y in (0, 16) for c in (0, 16) if x[y : y + 16, c : c + 16].tobytes() in quarters]
    assert not leaked
    assert "scikit-learn" in a.source and set(a.class_names) == {"china", "flower"}


def test_digits():
    digits = load_images(ImageConfig("digits", 5000, 10))
    assert digits.train.shape == (1787, 16, 16, 1) and digits.train.max() == 255 and len(digits.class_names) == 10


def test_cifar10_from_a_folder(tmp_path, monkeypatch):
    x = noise(40, 32 * 32 * 3, 1).reshape(40, 32, 32, 3)
    np.savez(tmp_path / "cifar10_subset.npz", x_train=x, y_train=np.arange(40) % 10, x_test=x[:8], y_test=np.arange(8),
             classes=np.array([f"c{i}" for i in range(10)]))  # fmt: skip
    monkeypatch.setenv("DDCL_DATA_DIR", str(tmp_path))
    images = load_images(ImageConfig("cifar10", 30, 5))
    assert (
        images.train.shape == (30, 32, 32, 3)
        and images.held_out.shape == (5, 32, 32, 3)
        and len(images.class_names) == 10
    )
    (tmp_path / "cifar10_subset.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match="cannot be read"):
        load_images(ImageConfig("cifar10"))
    monkeypatch.setenv("DDCL_DATA_DIR", str(tmp_path / "empty"))
    monkeypatch.setitem(__import__("sys").modules, "torchvision.datasets", None)
    with pytest.raises(InputError, match="DDCL_DATA_DIR"):
        load_images(ImageConfig("cifar10"))


def test_own_small_pictures_of_every_kind():
    glass = np.zeros((40, 30, 4), dtype=np.uint8)  # wholly transparent black, which is white paper
    files = [
        ("a.png", encoded(noise(9, 70))), ("b.JPG", encoded(noise(33, 32), "JPEG")),
        ("grey.png", encoded(noise(32, 32, 1))),
        ("glass.png", encoded(glass)), ("one.png", encoded(noise(1, 1))),
        ("deep.png", encoded(np.full((20, 20), 65535, dtype=np.uint16))),
    ]  # fmt: skip
    images = read_images(files)
    assert images.train.shape[1:] == (32, 32, 3) and len(images.train) == 6
    assert sum(bool((x == 255).all()) for x in images.train) == 2  # the glass and the deep white one
    assert any("trained on" in note for note in images.notes)


def test_own_large_picture_and_zip():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("in/photo.jpeg", encoded(noise(700, 300), "JPEG"))
        archive.writestr("in/readme.txt", "no picture")
        archive.writestr("__MACOSX/photo.jpeg", b"junk")
    images = read_images([("all.zip", buffer.getvalue())], ImageConfig("own", 50, 8))
    assert images.train.shape == (50, 32, 32, 3) and images.held_out.shape[0] == 8
    assert any("patches" in note for note in images.notes) and any("left out" in note for note in images.notes)


def test_turned_photographs_are_put_upright():
    array = np.zeros((20, 40, 3), dtype=np.uint8)
    array[:, :20] = 255
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: rotate by a quarter to the right
    data = io.BytesIO()
    Image.fromarray(array).save(data, "PNG", exif=exif)
    image = read_images([("turned.png", data.getvalue())]).train[0]
    assert image[:12].mean() > 250 and image[20:].mean() < 5


@pytest.mark.parametrize(
    "files, says",
    [
        ([], "no picture"),
        ([("x.png", b"")], "cannot be read"),
        ([("x.png", b"\x89PNG\r\n\x1a\nbroken")], "x.png"),
        ([("cut.png", encoded(noise(64, 64))[:900])], "cut.png"),
        ([("x.zip", b"PK broken")], "unpacked"),
        ([("x.gif", encoded(noise(8, 8), "GIF"))], "png or jpeg"),
    ],
)
def test_what_cannot_be_read_is_named(files, says):
    with pytest.raises(InputError, match=says):
        read_images(files)


def test_one_damaged_picture_among_others_is_left_out_and_named():
    images = read_images([("cut.png", encoded(noise(64, 64))[:900]), ("whole.png", encoded(noise(64, 64)))])
    assert len(images.train) == 1
    assert any("'cut.png' cannot be read as a picture" in note for note in images.notes)


def test_limits(monkeypatch):
    monkeypatch.setattr("ddcl_core.codebook.own_images.MAX_PIXELS", 100)
    with pytest.raises(InputError, match="pixels"):
        read_images([("big.png", encoded(noise(20, 20)))])
    monkeypatch.setattr("ddcl_core.codebook.own_images.MAX_FILES", 1)
    with pytest.raises(InputError, match="Too much"):
        read_images([("a.png", encoded(noise(5, 5)))] * 2)
    with pytest.raises(InputError, match="handed to the run"):
        load_images(ImageConfig("own"))
    with pytest.raises(InputError, match="uint8"):
        ImageSet(np.zeros((2, 8, 8, 3)), np.zeros((2, 8, 8, 3)), "x", "y")
