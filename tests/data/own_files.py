"""Files of one's own for the tests, as bytes."""

from __future__ import annotations

import io
import zipfile

LONG = "A story that is long enough to be told from a label by anybody who looks at the column, indeed."


def csv_text(rows: int = 6, separator: str = ",") -> str:
    body = "\n".join(f'{i}{separator}"{LONG} {i}"{separator}{"ab"[i % 2]}' for i in range(rows))
    return f"id{separator}text{separator}label\n{body}\n"


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()
