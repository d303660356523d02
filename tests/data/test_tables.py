"""Own documents: every form that is read, and every one that is refused with a sentence."""

from __future__ import annotations

import gzip
import io
import json

import numpy as np
import pytest

from ddcl_core.data import folder_corpora
from ddcl_core.data.tables import pasted_table, read_table, take_documents
from ddcl_core.errors import InputError
from tests.data.own_files import LONG, csv_text, zipped


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_tables_with_any_separator_and_encoding(separator: str, encoding: str) -> None:
    table = read_table(csv_text(separator=separator).encode(encoding), "own.csv")
    assert table.columns == ("id", "text", "label") and table.text == 1 and table.label == 2 and table.total == 6
    own = take_documents(table)
    assert own.texts[3] == f"{LONG} 3" and own.labels == ("a", "b") * 3


def test_quotes_line_breaks_and_html_in_cells() -> None:
    text = 'text,label\n"He said ""no"",\nand left.<br />Then &amp; there",x\n"مرحبا بالعالم 👩‍🚀",y\n,x\n"   ",y\n'
    own = take_documents(read_table(text.encode(), "own.csv"))
    assert own.texts[0] == 'He said "no",\nand left.\nThen & there' and own.texts[1].startswith("مرحبا")
    assert any("left out: 2" in note for note in own.notes)


def test_windows_1252_is_read_and_said() -> None:
    table = read_table("text\ncafé crème “quoted”\nsecond one\n".encode("cp1252"), "own.csv")
    assert take_documents(table).texts[0] == "café crème “quoted”" and "Windows-1252" in table.notes[0]


def test_json_lines_lists_parquet_and_excel() -> None:
    import pandas

    rows = [{"body": f"{LONG} {i}", "topic": "pq"[i % 2], "year": 1990 + i} for i in range(8)]
    frame = pandas.DataFrame(rows)
    parquet, excel = io.BytesIO(), io.BytesIO()
    frame.to_parquet(parquet)
    frame.to_excel(excel, index=False)
    lines = "\n".join(json.dumps(row) for row in rows).encode()
    forms = {"a.jsonl": lines, "a.json": json.dumps(rows).encode(), "a.parquet": parquet.getvalue(),
             "a.xlsx": excel.getvalue(), "wrong-ending.csv": parquet.getvalue()}  # fmt: skip
    for name, content in forms.items():
        own = take_documents(read_table(content, name))
        assert own.texts[7] == f"{LONG} 7" and own.labels == ("p", "q") * 4, name


def test_a_zip_of_texts_has_its_folders_as_labels_and_writes_nothing() -> None:
    files = {"data/sport/1.txt": b"A match.", "data/art/../art/2.txt": b"A song.", "../../evil.txt": b"Out.", "pic.png": b"x"}
    own = take_documents(read_table(zipped(files), "own.zip"))
    assert set(own.texts) == {"A match.", "A song."} and any("without a label" in note for note in own.notes)
    assert any("no text are left out: 1" in note for note in own.notes)


def test_a_large_file_is_sampled_evenly_and_says_so() -> None:
    content = ("text\n" + "\n".join(f"line number {i} with words" for i in range(30_000))).encode()
    table = read_table(content, "own.csv", seed=3, most=500)
    numbers = np.array([int(row[0].split()[2]) for row in table.rows])
    assert table.total == 30_000 and len(numbers) == 500 and (np.diff(numbers) > 0).all()
    assert 12_000 < numbers.mean() < 18_000 and "30,000 rows" in table.notes[0]
    assert read_table(content, "own.csv", seed=3, most=500).rows == table.rows


def test_duplicates_single_labels_and_too_many_labels() -> None:
    rows = [["one text", "a"], ["one text", "a"], ["another", "a"], ["a third", "b"]]
    table = read_table("\n".join(["text,label", *(",".join(row) for row in rows)]).encode(), "own.csv")
    own = take_documents(table, 0, 1)
    assert own.texts == ("one text", "another", "a third") and own.labels == ("a", "a", "b")
    assert any("repeat" in note for note in own.notes) and any("Only one document has the label b" in n for n in own.notes)
    many = "text,label\n" + "\n".join(f"text {i},name{i}" for i in range(100))
    own = take_documents(read_table(many.encode(), "own.csv"), 0, 1)
    assert own.labels == () and any("100 different values" in note for note in own.notes)


def test_columns_can_be_chosen_otherwise() -> None:
    table = read_table(csv_text().encode(), "own.csv")
    assert take_documents(table, label=None).labels == ()
    assert take_documents(table, text=0, label=2).texts == tuple("012345")
    with pytest.raises(InputError, match="both the text and the label"):
        take_documents(table, text=2, label=2)


def test_plain_lines_and_pasted_text() -> None:
    assert take_documents(read_table(b"first document\nsecond document\n", "own.txt")).texts[1] == "second document"
    own = take_documents(pasted_table("x\tfirst\ny\tsecond, with tab\there\n\n"))
    assert own.texts == ("first", "second, with tab here") and own.labels == ("x", "y")
    with pytest.raises(InputError, match="paste at least one line"):
        pasted_table(" \n ")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"text,label\n", "no row"),
        ("a.csv", b"\n\n  \n", "no row"),
        ("a.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00", "no text file"),
        ("a.jsonl", b'{"text": "x"}\n{broken', "line 2"),
        ("a.jsonl", b"[1, 2]", "JSON objects"),
        ("a.parquet", b"PAR1 and then nonsense", "Parquet"),
        ("a.zip", b"PK\x03\x04 nonsense", "unpacked"),
        ("a.zip", zipped({"picture.png": b"x"}), "no text file"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "old Excel"),
        ("a.xlsx", zipped({"xl/workbook.xml": b"<broken"}), "Excel"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(name: str, content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        take_documents(read_table(content, name))
    assert len(str(caught.value)) < 200


def test_only_empty_texts_are_refused() -> None:
    with pytest.raises(InputError, match="holds no letters or digits"):
        take_documents(read_table(b"text,label\n...,a\n!!,b\n", "a.csv"), 0, 1)


def test_corpora_from_a_folder(tmp_path, monkeypatch) -> None:
    folder_corpora._corpus.cache_clear()
    text = "label,text\nsci.space,the moon\nrec.autos,a car\nsci.space,the moon\nrec.autos,\n"
    (tmp_path / "20newsgroups_train.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "sst2.csv").write_text("label,text\n1,good\n0,bad\n")
    monkeypatch.setenv("DDCL_DATA_DIR", str(tmp_path))
    news = folder_corpora.load_newsgroups()
    assert news.class_names == ("rec.autos", "sci.space") and news.texts == ("the moon", "a car") and news.labels == (1, 0)
    assert folder_corpora.load_sst2().class_names == ("negative", "positive")
    (tmp_path / "imdb.csv").write_text("text\nx\n")
    with pytest.raises(InputError, match="columns label and text"):
        folder_corpora.load_imdb()
    folder_corpora._corpus.cache_clear()
