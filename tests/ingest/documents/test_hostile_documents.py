"""Files that mean harm, or are broken: each ends in a reason with a name, and so does whatever a
parser does over them. The worker sees nothing of it."""

import os
import socket
import struct
import tempfile
import time
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from ingest.documents import process
from ingest.documents.problems import PROBLEMS, in_words
from tests.ingest.documents.makers import (
    docx,
    encrypted_pdf,
    endless_pdf,
    epub,
    packed,
    paragraph,
    pdf,
    pptx,
    slide,
    xlsx,
)
from tests.ingest.documents.reading_process import limits, read, refusal

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))


def bomb(name: str, of: bytes) -> bytes:
    """A package with one part that is 200 MB of blanks, in a few hundred kilobytes."""
    buffer = BytesIO(of)
    with ZipFile(buffer, "a", ZIP_DEFLATED) as package, package.open(name, "w") as part:
        for _ in range(200):
            part.write(b" " * 1024**2)
    return buffer.getvalue()


def liar() -> bytes:
    """A part that is larger than the directory says."""
    body = bytearray(bomb("word/extra.xml", docx(paragraph("x"))))
    real = struct.pack("<L", 200 * 1024**2)
    assert real in body
    return bytes(body.replace(real, struct.pack("<L", 1000)))


def overlapping() -> bytes:
    """Two entries of the directory that are the same bytes of the file."""
    body = bytearray(docx(paragraph("x")))
    starts = [at for at in range(len(body)) if body[at : at + 4] == b"PK\x01\x02"]
    body[starts[-1] + 42 : starts[-1] + 46] = body[starts[-2] + 42 : starts[-2] + 46]
    return bytes(body)


def encrypted_part() -> bytes:
    body = bytearray(docx(paragraph("x")))
    for at in range(len(body)):
        if body[at : at + 4] == b"PK\x01\x02":
            body[at + 8] |= 1
    return bytes(body)


def many_parts() -> bytes:
    buffer = BytesIO(docx(paragraph("x")))
    with ZipFile(buffer, "a") as package:
        for number in range(10_001):
            package.writestr(ZipInfo(f"word/p{number}"), b"")
    return buffer.getvalue()


def huge_png() -> bytes:
    """60,000 by 60,000 pixels, all the same."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        checksum = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 1, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(7501) * 8))
        + chunk(b"IEND", b"")
    )


def nested_xml(depth: int) -> str:
    return "<w:sdt>" * depth + paragraph("deep") + "</w:sdt>" * depth


HOSTILE: dict[str, tuple[Callable[[], bytes], set[str]]] = {
    "nothing": (lambda: b"", {"empty"}),
    "noise": (lambda: bytes(range(256)) * 40, {"unknown_kind"}),
    "a program": (lambda: b"\x7fELF" + bytes(600), {"unknown_kind"}),
    "an ordinary zip": (lambda: packed({"a.txt": "hello"}), {"unknown_kind"}),
    "rich text": (lambda: rb"{\rtf1 hello}", {"unknown_kind"}),
    "an old Word file": (lambda: _OLE + bytes(2000), {"old_office"}),
    "an OLE file in OLE files": (lambda: _OLE * 500, {"old_office"}),
    "a locked Word file": (
        lambda: _OLE + bytes(500) + "EncryptedPackage".encode("utf-16-le"),
        {"encrypted"},
    ),
    "a locked PDF": (encrypted_pdf, {"encrypted"}),
    "locked parts": (encrypted_part, {"encrypted"}),
    "a book with a lock": (
        lambda: epub(
            ["<p>x</p>"],
            further={
                "META-INF/encryption.xml": "<encryption>"
                '<CipherReference URI="OEBPS/text/c0.xhtml"/></encryption>'
            },
        ),
        {"encrypted"},
    ),
    "a cut zip": (lambda: docx(paragraph("x"))[:-30], {"damaged"}),
    "a cut PDF": (lambda: pdf(["x"])[:40], {"damaged"}),
    "a Word file without its text": (
        lambda: packed({"[Content_Types].xml": "", "word/other.xml": ""}),
        {"damaged"},
    ),
    "broken XML": (lambda: docx("<w:p><w:r></w:p>"), {"damaged"}),
    "a broken image": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(50), {"damaged", "ocr_missing"}),
    "an external entity": (
        lambda: docx(
            paragraph("&x;"), prolog='<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        ),
        {"entities"},
    ),
    "a billion laughs": (
        lambda: docx(paragraph("&a9;"), prolog=f'<!DOCTYPE w [<!ENTITY a0 "ha">{_LAUGHS}]>'),
        {"entities"},
    ),
    "laughs in a workbook": (
        lambda: packed(
            {
                "[Content_Types].xml": "<Types/>",
                "xl/workbook.xml": f'<!DOCTYPE w [<!ENTITY a0 "ha">{_LAUGHS}]><workbook/>',
            }
        ),
        {"entities"},
    ),
    "a bomb in a Word file": (
        lambda: bomb("word/extra.xml", docx(paragraph("x"))),
        {"unpacks_too_large"},
    ),
    "a bomb in a workbook": (
        lambda: bomb("xl/extra.xml", xlsx({"A": [["x"]]})),
        {"unpacks_too_large"},
    ),
    "a bomb in slides": (
        lambda: bomb("ppt/extra.xml", pptx([slide("a", "b")])),
        {"unpacks_too_large"},
    ),
    "a bomb in a book": (lambda: bomb("OEBPS/x", epub(["<p>x</p>"])), {"unpacks_too_large"}),
    "overlapping parts": (overlapping, {"overlapping"}),
    "too many parts": (many_parts, {"too_many_parts"}),
    "a PDF of 100,000 pages": (lambda: endless_pdf(100_000), {"too_many_pages"}),
    "an image of 3,600 million pixels": (huge_png, {"image_too_large"}),
    "a document without text": (lambda: docx(""), {"no_text"}),
    "a blank text": (lambda: b" \n \n", {"no_text"}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_each_ends_in_a_reason_with_a_name(name: str) -> None:
    make, expected = HOSTILE[name]
    began = time.monotonic()
    assert refusal(make()) in expected
    assert time.monotonic() - began < limits().seconds


def test_a_part_that_is_larger_than_the_directory_says_is_not_read() -> None:
    _, (page,), _ = read(liar())  # nobody asks for that part
    assert page.text == "x"


def test_deeply_nested_xml_is_read_like_any_other() -> None:
    _, (page,), _ = read(docx(nested_xml(100_000)))
    assert page.text == "deep"


def test_every_reason_is_in_words_that_say_what_to_do() -> None:
    for code in PROBLEMS:
        message, hint = in_words(code, "this")
        assert message
        assert hint
        assert "{" not in message + hint


@pytest.fixture
def parser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Puts a program in the place of the parser, under the same limits."""

    def become(program: str) -> None:
        start = (
            "import sys, json; sys.path.insert(0, sys.argv[1])\n"
            "from ingest.documents.confinement import confine\n"
            "from ingest.documents.pages import Limits\n"
            "limits = Limits(**json.loads(sys.argv[2]))\n"
            "confine(memory_bytes=limits.memory_bytes, cpu_seconds=limits.seconds, "
            "may_start_programs=True)\n" + program
        )
        monkeypatch.setattr(process, "_START", start)

    return become


def test_a_parser_that_takes_all_memory_is_stopped(parser: Callable[[str], None]) -> None:
    parser("x = bytearray(8 * 1024**3)\nprint(json.dumps({'done': True}))")
    assert refusal(b"x", limits(file_read_memory_bytes=256 * 1024**2)) == "crashed"


def test_a_document_that_needs_too_much_memory_says_so() -> None:
    words = "".join(f"<w:p><w:r><w:t>{n * 7919:x}</w:t></w:r></w:p>" for n in range(600_000))
    small = limits(file_read_memory_bytes=128 * 1024**2)
    assert refusal(docx(words), small) == "too_much_memory"


def test_a_parser_that_turns_in_circles_is_stopped(parser: Callable[[str], None]) -> None:
    parser("while True: pass")
    assert refusal(b"x", limits(file_read_seconds=1)) == "too_long"


def test_a_parser_that_only_waits_is_stopped(
    parser: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_GRACE_SECONDS", 0)
    parser("import time; time.sleep(600)")
    assert refusal(b"x", limits(file_read_seconds=1)) == "too_long"


def test_a_parser_that_writes_without_end_is_stopped(parser: Callable[[str], None]) -> None:
    parser(
        "f = open('big', 'wb')\n"
        "try:\n"
        "    while True: f.write(bytes(2**20))\n"
        "except OSError: print(json.dumps({'refused': 'no_text'}))"
    )
    assert refusal(b"x") == "no_text"


def test_a_parser_that_talks_without_end_is_stopped(
    parser: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_LINE_BYTES", 1024**2)
    parser("while True: sys.stdout.write('x' * 65536)")
    assert refusal(b"x") == "too_much_text"


@pytest.mark.parametrize(
    "said",
    [
        "print('no JSON')",
        "print('[1]')",
        "print(json.dumps({'page': {'number': 'x'}}))",
        "print(json.dumps({'refused': 'unheard of'}))",
        "import os; os.abort()",
        "sys.exit(3)",
        "print('[' * 100000)",
    ],
)
def test_a_parser_that_says_nonsense_or_dies_has_crashed(
    said: str, parser: Callable[[str], None]
) -> None:
    parser(said)
    assert refusal(b"x") == "crashed"


def test_a_parser_has_no_network(parser: Callable[[str], None]) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        parser(
            "import socket\n"
            "try:\n"
            f"    socket.create_connection(('127.0.0.1', {listener.getsockname()[1]}), 2)\n"
            "except PermissionError: print(json.dumps({'refused': 'no_text'}))"
        )
        assert refusal(b"x") == "no_text"


def test_a_parser_sees_nothing_of_the_servers_settings(
    parser: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BACKREAD_DATABASE_URL", "postgresql+psycopg://u:secret@h/n")
    parser(
        "import os\n"
        "told = 'secret' in str(os.environ)\n"
        "print(json.dumps({'refused': 'damaged' if told else 'no_text'}))"
    )
    assert refusal(b"x") == "no_text"


def test_nothing_stays_behind(
    parser: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    parser("open('left', 'w').write('x'); import os; os.abort()")
    assert refusal(b"x") == "crashed"
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_the_parser_starts_ends_with_it(
    parser: Callable[[str], None], tmp_path: Path
) -> None:
    pid_file = tmp_path / "pid"
    parser(
        "import subprocess\n"
        "other = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(pid_file)!r}, 'w').write(str(other.pid))\n"
        "print('nonsense', flush=True)\n"
        "import time; time.sleep(600)"
    )
    assert refusal(b"x") == "crashed"
    pid = int(pid_file.read_text())
    until = time.monotonic() + 10
    while _is_alive(pid):
        assert time.monotonic() < until, "it still runs"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"
