"""The live view's payload and files, and its JavaScript modules under node's own test runner."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from dashboard import theme
from dashboard.live_view import _LOADER, ASSETS, assets_version, payload
from ddcl_core.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
PANELS = [{"label": "Fast", "epsilon": 1.0, "temperature": 2}, {"epsilon": 0.05, "temperature": 2.0}]


def test_payload_is_plain_and_equal_for_equal_arguments() -> None:
    one = payload("token", PANELS, "lab", {"map": "pca"}, "/some/base/")
    assert one == payload("token", PANELS, "lab", {"map": "pca"}, "some/base")
    assert one["panels"] == [
        {"label": "Fast", "epsilon": 1.0, "temperature": 2.0},
        {"label": "right", "epsilon": 0.05, "temperature": 2.0},
    ]
    assert one["view"] == {"map": "pca"} and payload("token", PANELS, "lab", {"seed": None})["view"] == {}
    assert one["base"] == "/some/base" and payload("token", PANELS, "lab")["base"] == ""
    assert re.fullmatch(r"[0-9a-f]{12}", one["version"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("", PANELS, "lab"), "no scene token"),
        (("token", [], "lab"), "one or two panels, not 0"),
        (("token", PANELS + PANELS, "lab"), "one or two panels, not 4"),
        (("token", [{"epsilon": float("nan"), "temperature": 1.0}], "lab"), "epsilon nan"),
        (("token", [{"epsilon": 1.0}], "lab"), "temperature None"),
        (("token", PANELS, "lab", {"zoom": 1}), "no setting 'zoom'"),
    ],
)
def test_odd_input_gets_a_sentence(arguments: tuple, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        payload(*arguments)


def test_inline_loader_stays_small_because_it_travels_with_every_message() -> None:
    assert len(_LOADER) < 1500


def test_version_names_the_files_that_are_served() -> None:
    assert assets_version() == assets_version()
    assert (ASSETS / "main.js").is_file() and (ASSETS / "live.css").is_file()


@pytest.mark.parametrize("path", sorted(ASSETS.glob("*.js")), ids=lambda p: p.name)
def test_modules_are_short_and_never_read_text_as_markup(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text)
    for imported in re.findall(r'from "\./([\w.]+)"', text):
        assert (ASSETS / imported).is_file()


def test_colours_are_the_same_in_both_languages() -> None:
    text = (ASSETS / "theme.js").read_text(encoding="utf-8")
    for name in ("light", "dark"):
        found = re.search(rf"const {name.upper()} = \[(.*?)\]", text)
        assert found is not None
        assert tuple(re.findall(r"#[0-9a-f]{6}", found[1])) == theme.OKABE_ITO[name]
        for color in theme.ROLES[name].values():
            assert color in text
    assert f"[{', '.join(repr(s) for s in theme.SHAPES)}]".replace("'", '"') in text


def test_marks_do_not_repeat_within_eight_times_eight() -> None:
    pairs = {(theme.color(i), theme.shape(i)) for i in range(64)}
    assert len(pairs) == 64
    assert theme.plotly_symbol(2) == "triangle-up"


def test_words_of_a_verdict() -> None:
    assert theme.verdict("collapsed", 12) == "▼ collapsed at step 12"
    assert theme.verdict("stable", 12) == "● stable so far"
    assert "<script>" not in theme.caption("<script>")


def test_configuration_has_both_themes_and_no_collection_after_runs() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["runner"]["postScriptGC"] is False
    assert config["browser"]["gatherUsageStats"] is False
    assert set(config["theme"]["light"]) == set(config["theme"]["dark"])


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("*.test.mjs")), ids=lambda p: p.name)
def test_javascript(path: Path) -> None:
    done = subprocess.run(["node", "--test", str(path)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_text_from_outside_is_shown_word_for_word() -> None:
    from dashboard.theme import plain

    said = plain("![](http://a.invalid/q.png) [x](y) *b* `c` <b> $e$ a_b :red[z] # 1")
    assert "\\!\\[\\]\\(http\\://a.invalid/q.png\\)" in said and "\\*b\\*" in said and "\\<b\\>" in said and "\\$e\\$" in said
