"""Files as people have them: encodings, uneven rows, odd JSON, Parquet and Excel, packed tables."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import pytest

from ddcl_core.data.tables import pasted_table, read_table, take_documents
from ddcl_core.errors import InputError
from tests.data.own_files import LONG, csv_text, zipped

JAPANESE = "text,label\n" + "\n".join(f"日本の選手が試合に勝った{i},スポーツ\n株価が下落した{i},経済" for i in range(5))
CHINESE = "text,label\n" + "\n".join(f"中国队赢得了比赛{i},体育\n股市下跌{i},经济" for i in range(5))
RUSSIAN = "text,label\n" + "\n".join(f"Команда выиграла матч {i},спорт\nАкции банка упали {i},деньги" for i in range(5))
GREEK = "text,label\n" + "\n".join(f"Η ομάδα κέρδισε τον αγώνα {i},σπορ\nΗ τράπεζα {i},χρήμα" for i in range(5))
FRENCH = "text,label\n" + "\n".join(f"“L’été dernier” — numéro {i} à Besançon,été\nl’hiver {i},hiver" for i in range(5))


@pytest.mark.parametrize(
    ("text", "encoding", "known"),
    [
        (JAPANESE, "shift_jis", "cp932"), (JAPANESE, "euc_jp", "euc_jp"), (JAPANESE, "iso2022_jp", "iso2022_jp"),
        (CHINESE, "gb18030", "gb18030"), (RUSSIAN, "cp1251", "cp1251"), (RUSSIAN, "koi8_r", "koi8_r"), (GREEK, "cp1253", "cp1253"),
        (FRENCH, "cp1252", "cp1252"), (FRENCH, "utf-16-le", "utf-16-le"), (FRENCH, "utf-16-be", "utf-16-be"), (FRENCH, "utf-32", "utf-32"),
    ],
)  # fmt: skip
def test_the_encoding_is_guessed_said_and_can_be_changed(text: str, encoding: str, known: str) -> None:
    table = read_table(text.encode(encoding), "own.csv")
    assert table.encoding == known and "not UTF-8" in table.notes[0]
    right = read_table(text.encode(), "own.csv")
    assert table.rows == right.rows and table.columns == right.columns and right.encoding == "utf-8" and not right.notes
    other = read_table("text\nZażółć gęślą jaźń\nŁódź wygrała\n".encode("cp1250"), "own.csv", encoding="cp1250")
    assert other.rows[0] == ["Zażółć gęślą jaźń"] and other.encoding == "cp1250" and not other.notes


def test_stray_signs_in_a_text_are_no_reason_to_refuse_it() -> None:
    rows = "".join(f"a\x07\x1b[31m\x00b word {i},{'xy'[i % 2]}\n" for i in range(6))
    own = take_documents(read_table(f"text,label\n{rows}".encode(), "own.csv"))
    assert own.texts[0] == "a [31mb word 0" and own.labels == ("x", "y") * 3 and "NUL" in own.notes[0]
    for content in (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10, b"%PDF-1.4\n%\xe2\xe3" + bytes(range(1, 256)) * 20):
        with pytest.raises(InputError, match="is no text file|is a formatted document"):
            read_table(content, "own.csv")


def test_a_quotation_mark_that_is_never_closed_is_named_by_its_row() -> None:
    with pytest.raises(InputError, match="quotation mark in row 3 that is never closed"):
        read_table(b'text,label\nfine,x\n"never closed,y\nlost,x\nlost too,y\n', "own.csv")
    assert len(read_table(b'text,label\na,x\n"two\nlines",y\n', "own.csv").rows) == 2


def test_rows_of_another_length_are_kept_and_said() -> None:
    table = read_table(b"text,label\na b c,x\nd e f\ng h i,y,z,w\nj k l,x\n", "own.csv")
    assert table.columns == ("text", "label") and table.rows == [["a b c", "x"], ["d e f", ""], ["g h i,y,z", "w"], ["j k l", "x"]]
    assert "more cells than the first: 1" in table.notes[0] and "comma" in table.notes[0] and "fewer cells than the first: 1" in table.notes[1]
    last = read_table(b"label,text\npos,I liked it, really, a lot\nneg,not at all\npos,fine\n", "own.csv")
    assert last.rows[0] == ["pos", "I liked it, really, a lot"]


def test_headers_by_numbers_below_them_and_names_that_repeat() -> None:
    table = read_table("".join(f"{a},{b}\n" for a, b in [("id", "msg"), *((i, f"some words {i}") for i in range(9))]).encode(), "own.csv")
    assert table.columns == ("id", "msg") and len(table.rows) == 9 and table.text == 1
    assert read_table(b"text,text,label\na b,c d,x\ne f,g h,x\n", "own.csv").columns == ("text", "text (2)", "label")
    assert read_table(b"1,some words\n2,other words\n3,more words\n", "own.csv").columns == ("column 1", "column 2")


def test_what_differs_in_every_row_is_no_label() -> None:
    table = read_table(("text,label\n" + "".join(f"some words {i},l{i}\n" for i in range(20))).encode(), "own.csv")
    assert table.label is None and "too many different values" in table.reason
    with pytest.raises(InputError, match="No row has both a text and a label"):
        take_documents(read_table(b"text,label\na b,\nc d,\n", "own.csv"), 0, 1)


def test_json_in_the_forms_that_programs_write() -> None:
    rows = [{"text": f"some words {i}", "label": "ab"[i % 2]} for i in range(4)]
    columns = {"text": [row["text"] for row in rows], "label": [row["label"] for row in rows]}
    by_row = {name: {str(i): value for i, value in enumerate(values)} for name, values in columns.items()}
    for value in (rows, {"data": rows, "version": "1"}, columns, by_row):
        for indent in (None, 2):
            own = take_documents(read_table(json.dumps(value, indent=indent).encode(), "own.json"))
            assert own.texts[3] == "some words 3" and own.labels == ("a", "b") * 2
    lines = [json.dumps(row) for row in rows]
    table = read_table("\n".join([*lines, '{"text": "cut off']).encode(), "own.jsonl")
    assert len(table.rows) == 4 and "left out: 1, the first is line 5" in table.notes[0]
    with pytest.raises(InputError, match="no valid JSON at line 1"):
        read_table(b'{"text": \n{"text": "a"}', "own.jsonl")
    assert read_table(b'[{"text": "a b", "n": NaN}, {"text": "c d", "n": 1e999}]', "own.json").rows == [["a b", ""], ["c d", ""]]


def test_odd_columns_of_parquet_become_text() -> None:
    import pandas

    frame = pandas.DataFrame({"text": [LONG, "other words"], "tags": [["a", "b"], []], "when": pandas.to_datetime(["2024-01-01", None])})
    frame["more"], frame["raw"], frame["n"] = [{"k": 1}, {"k": 2}], [b"caf\xc3\xa9", b"\xff"], pandas.array([1, None], dtype="Int64")
    out = io.BytesIO()
    frame.to_parquet(out)
    table = read_table(out.getvalue(), "own.parquet")
    assert table.columns == ("text", "tags", "when", "more", "raw", "n")
    assert table.rows[0] == [LONG, '["a", "b"]', "2024-01-01 00:00:00", '{"k": 1}', "café", "1"]
    assert table.rows[1][1:] == ["[]", "", '{"k": 2}', "\ufffd", ""]


def test_the_first_sheet_with_rows_and_a_workbook_that_was_cut() -> None:
    import pandas

    out = io.BytesIO()
    frame = pandas.DataFrame({"text": ["some words", "other words", "more words"], "label": ["x", "y", "x"]})
    with pandas.ExcelWriter(out) as writer:
        for title, sheet in (("empty", pandas.DataFrame()), ("first", frame), ("second", frame)):
            sheet.to_excel(writer, sheet_name=title, index=False)
    table = read_table(out.getvalue(), "own.xlsx")
    assert len(table.rows) == 3 and table.notes == ["The workbook has 2 sheets with rows; 'first' is read."]
    with pytest.raises(InputError, match="cannot be read as Excel"):
        read_table(out.getvalue()[:-200], "own.xlsx")


def test_a_table_may_be_packed() -> None:
    plain = read_table(csv_text().encode(), "own.csv")
    for content, name in ((gzip.compress(csv_text().encode()), "own.csv.gz"), (zipped({"a/own.csv": csv_text().encode()}), "own.zip")):
        table = read_table(content, name)
        assert table.rows == plain.rows and table.columns == plain.columns and table.encoding == "utf-8"
    with pytest.raises(InputError, match="holds 2 tables"):
        read_table(zipped({"a.csv": b"text\na\n", "b.csv": b"text\nb\n"}), "own.zip")
    with pytest.raises(InputError, match="holds no text file"):
        read_table(zipped({}), "own.zip")
    with pytest.raises(InputError, match="ends too early"):
        read_table(gzip.compress(csv_text(500).encode())[:-40], "own.csv.gz")


def test_a_table_wider_than_anybody_reads_is_refused_at_once() -> None:
    wide = ",".join(f"c{i}" for i in range(20_000)) + "\n" + ",".join("v" for _ in range(20_000)) + "\n"
    with pytest.raises(InputError, match="20,000 columns, and at most 1,000"):
        read_table(wide.encode(), "own.csv")


def test_pasted_cells_of_a_spreadsheet_and_more_lines_than_are_used() -> None:
    table = pasted_table("the team has won the match\tsport\nshares fell\tmoney\na goal\tsport\n")
    assert table.columns == ("text", "label") and (table.text, table.label) == (0, 1) and table.reason == "a label after each tab"
    table = pasted_table("id\ttext\tlabel\n" + "".join(f"{i}\tsome words {i}\t{'ab'[i % 2]}\n" for i in range(6)))
    assert table.columns == ("id", "text", "label") and len(table.rows) == 6 and (table.text, table.label) == (1, 2)
    many = pasted_table("\n".join(f"line {i}" for i in range(30)), most=10)
    assert len(many.rows) == 10 and many.total == 30 and "10 of them" in many.notes[0] and many.reason == "one document a line"


def test_halves_of_characters_missing_columns_and_damaged_packing() -> None:
    table = read_table(b'{"te\\ud800xt": "bad \\ud800 half", "label": "x\\udfff"}\n{"te\\ud800xt": "fine words", "label": "y"}\n', "own.jsonl")
    assert table.columns[0] == "te?xt" and table.rows[0] == ["bad ? half", "x?"]
    with pytest.raises(InputError, match="no row with documents"):
        read_table(b"[{}, {}]", "own.json")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.txt", "hello " * 500)
    content = bytearray(out.getvalue())
    content[60:70] = b"\xff" * 10
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_table(bytes(content), "own.zip")


def test_prose_is_one_document_a_line_and_brackets_make_no_json() -> None:
    poem = "Hello, my friend.\nI came, I saw.\nWords, words, words.\n"
    table = read_table(poem.encode(), "poem.txt")
    assert [row[0] for row in table.rows] == poem.splitlines() and "Each line is read as one document." in table.notes
    for content, name in ((b"[Verse 1] hello there\nsecond line here\n", "song.txt"), (b"{curly} is a word\nanother line\n", "notes.txt")):
        assert len(read_table(content, name).rows) == 2
    table = read_table(b"[id],text\n1,hello world\n2,bye then\n", "own.csv")
    assert table.columns == ("[id]", "text") and table.rows[0] == ["1", "hello world"]
    assert read_table(b'{"text": "a b"}\n{"text": "c d"}\n', "own.txt").rows == [["a b"], ["c d"]]
    with pytest.raises(InputError, match="formatted document"):
        read_table(rb"{\rtf1\ansi hello}", "own.rtf")


def test_a_first_line_may_name_the_separator() -> None:
    table = read_table(b"sep=;\r\ntext;label\r\na, b;x\r\nc, d;y\r\n", "own.csv")
    assert table.columns == ("text", "label") and table.rows == [["a, b", "x"], ["c, d", "y"]]


def test_line_ends_of_unicode_do_not_end_a_json_line() -> None:
    table = read_table('{"text":"a\u2028b\u0085c","label":"x"}\r\n{"text":"d","label":"y"}\n'.encode(), "own.jsonl")
    assert len(table.rows) == 2 and table.rows[0][0] == "a\u2028b\u0085c"


def test_keys_that_come_late_in_json_are_columns() -> None:
    lines = ['{"a": "%d"}' % i for i in range(2500)] + ['{"text": "some words", "a": "1"}']
    assert read_table("\n".join(lines).encode(), "own.jsonl").columns == ("a", "text")


def test_the_first_row_is_a_header_if_one_says_so() -> None:
    content = b"kommentar,kategorie\nsehr gut,a\nschlecht,b\ngut,a\n"
    assert len(read_table(content, "own.csv").rows) == 4
    table = read_table(content, "own.csv", header=True)
    assert table.columns == ("kommentar", "kategorie") and len(table.rows) == 3 and table.label == 1
    assert table.header is True and read_table(content, "own.csv").header is False
    assert len(read_table(b"text,label\na b,x\nc d,x\n", "own.csv", header=False).rows) == 3
    table = read_table(b"comments\nsome words\nother words\n", "own.csv")
    assert table.header is False and len(table.rows) == 3
    assert read_table(b"comments\nsome words\nother words\n", "own.csv", header=True).columns == ("comments",)
    assert read_table(b"comments\nsome words\n", "own.txt").header is None and pasted_table("a b\nc d").header is None


def test_excel_keeps_words_that_mean_nothing_elsewhere_and_passes_over_a_title() -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["Survey 2024"], ["answer", "group"], ["None", "NA"], ["null and void", "x"], ["fine, thanks", "NA"]):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    table = read_table(out.getvalue(), "own.xlsx")
    assert table.columns == ("answer", "group") and table.rows == [["None", "NA"], ["null and void", "x"], ["fine, thanks", "NA"]]
    assert len(read_table(out.getvalue(), "own.xlsx", header=False).rows) == 4


def test_an_index_of_parquet_is_a_column_and_whole_numbers_stay_whole() -> None:
    import pandas

    frame = pandas.DataFrame({"label": pandas.array([1, None, 2], dtype="float64")}, index=pandas.Index([f"{LONG} {i}" for i in range(3)], name="text"))
    frame["label"] = frame["label"].astype("Int64")
    out = io.BytesIO()
    frame.to_parquet(out)
    table = read_table(out.getvalue(), "own.parquet")
    assert table.columns == ("text", "label") and [row[1] for row in table.rows] == ["1", "", "2"] and table.text == 0
    with pytest.raises(InputError, match=r"as Parquet \(.+\)"):
        read_table(out.getvalue()[:-30], "own.parquet")


def test_addresses_dates_and_file_names_are_neither_texts_nor_labels() -> None:
    rows = "".join(f"https://example.org/a/very/long/address/{i},news {i} of today,2024-01-0{i % 3 + 1},{'ab'[i % 2]}\n" for i in range(12))
    table = read_table(f"link,headline,day,kind\n{rows}".encode(), "own.csv", header=True)
    assert table.columns[table.text] == "headline" and table.columns[table.label] == "kind"
    table = read_table(zipped({f"{i}.txt": f"some words {i}".encode() for i in range(3)}), "own.zip")
    assert table.columns[table.text] == "text" and table.label is None


def test_a_label_may_look_like_a_tag() -> None:
    rows = "".join(f"some words {i},<{'pb'[i % 2]}>\n" for i in range(4))
    assert take_documents(read_table(f"text,label\n{rows}".encode(), "own.csv")).labels == ("<p>", "<b>") * 2


def test_what_a_zip_cannot_be_is_said() -> None:
    out = io.BytesIO(zipped({"a.txt": b"hello there"}))
    with zipfile.ZipFile(out) as archive:
        at = archive.infolist()[0].header_offset
    content = bytearray(out.getvalue())
    content[at + 6] |= 1
    directory = content.index(b"PK\x01\x02")
    content[directory + 8] |= 1
    with pytest.raises(InputError, match="locked by a password"):
        read_table(bytes(content), "own.zip")
    with pytest.raises(InputError, match="formatted document"):
        read_table(zipped({"word/document.xml": b"<w/>", "[Content_Types].xml": b"<x/>"}), "own.docx")
    table = read_table(zipped({"a.txt": b"hello there", "b.txt": bytes(range(256)) * 20}), "own.zip")
    assert len(table.rows) == 1 and "no text are left out: 1" in table.notes[0]
    with pytest.raises(InputError, match="more than 10 million characters"):
        read_table(b'text,label\n"' + b"word " * 2_100_000 + b'",a\nb,a\n', "own.csv")


def test_files_of_one_name_in_a_zip_are_all_read() -> None:
    table = read_table(zipped({"a/one.txt": b"some words", "../a/one.txt": b"other words", "a/./one.txt": b"more words"}), "own.zip")
    assert [row[2] for row in table.rows] == ["some words", "other words", "more words"]
