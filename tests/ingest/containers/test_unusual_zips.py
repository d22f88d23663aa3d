"""Zips as real tools write them, beyond the plain ones."""

import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import Message
from ingest.report import ImportReport
from tests.ingest.exports import (
    as_json,
    as_zip,
    chatgpt,
    chatgpt_message,
    claude,
    import_files,
    write,
    zip_bytes,
)

# Nothing here depends on the database, so one is enough.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

CHATS = as_json([chatgpt()])
_FILM_BYTES = 4 * 1024**3 + 12_345


@pytest.fixture
def imported(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> Callable[[bytes], ImportReport]:
    def import_it(packed: bytes) -> ImportReport:
        return import_files(kernel, principal, write(tmp_path / "export.zip", packed))

    return import_it


def test_chats_behind_four_gigabytes_of_film_are_read(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    path = tmp_path / "large.zip"
    with path.open("w+b") as file, zipfile.ZipFile(file, "w") as archive:
        film = zipfile.ZipInfo("film.mp4")
        film.file_size = film.compress_size = _FILM_BYTES
        film.CRC = film.header_offset = 0
        file.write(film.FileHeader(zip64=True))
        file.seek(_FILM_BYTES, os.SEEK_CUR)  # a hole: takes no room on the disk
        archive.filelist.append(film)
        archive.NameToInfo[film.filename] = film
        archive.start_dir = file.tell()  # where writing goes on
        archive.writestr("conversations.json", CHATS)
    assert path.stat().st_size > _FILM_BYTES
    report = import_files(kernel, principal, path)
    assert (report.state, report.totals.new) == ("readable", 1)


def test_a_zip64_archive_inside_a_zip_is_read(imported: Callable[[bytes], ImportReport]) -> None:
    inner = io.BytesIO()
    with (
        zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("conversations.json", "w", force_zip64=True) as stream,
    ):
        stream.write(CHATS)
    assert imported(zip_bytes({"part.zip": inner.getvalue()})).totals.new == 1


def test_a_zip_whose_sizes_follow_the_data_is_read(
    imported: Callable[[bytes], ImportReport],
) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise io.UnsupportedOperation

    packed = Pipe()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations-000.json", CHATS)
        archive.writestr("conversations-001.json", as_json([chatgpt("second")]))
    content = packed.getvalue()
    assert content[6] & 0x08  # "sizes follow"
    assert imported(content).totals.new == 2


@pytest.mark.parametrize(
    "name",
    [
        "CONVERSATIONS.JSON",
        "Export\\2024\\Conversations.Json",
        "export/./conversations.JSON",
        "x" * 240 + ".json",
    ],
)
def test_names_in_any_case_with_any_separator_are_read(
    imported: Callable[[bytes], ImportReport], name: str
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        info = zipfile.ZipInfo("placeholder")
        info.filename = info.orig_filename = name
        archive.writestr(info, CHATS)
    assert imported(packed.getvalue()).totals.new == 1


def test_a_name_in_an_old_code_page_is_read(imported: Callable[[bytes], ImportReport]) -> None:
    packed = zip_bytes({"chats-#####.json": CHATS}).replace(b"#####", b"\x81\xe7\xff\xc3\x28")
    report = imported(packed)
    assert report.totals.new == 1
    assert report.items[0].source.endswith(".json, no. 1")


def test_bytes_in_front_of_a_zip_do_no_harm(imported: Callable[[bytes], ImportReport]) -> None:
    packed = zip_bytes({"conversations.json": CHATS})
    report = imported(b"PK\x03\x04" + bytes(2000) + packed)
    assert report.totals.new == 1


def test_chatgpts_numbered_assets_get_the_names_from_the_exports_list(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    turn = chatgpt_message("user", "What is this?")
    turn["metadata"] = {"attachments": [{"id": "file-Qr5", "mime_type": "application/pdf"}]}
    members = {
        "conversations-000.json": [chatgpt("a", (turn, "A map."))],
        "conversation_asset_file_names.json": {"file-Qr5.dat": "Karte Süd.pdf"},
        "file-Qr5.dat": b"%PDF-1.7",
    }
    report = import_files(kernel, principal, as_zip(members, tmp_path / "export.zip"))
    assert (report.totals.new, report.warnings) == (1, [])
    with kernel.store.read() as session:
        named = session.scalars(
            select(Message.attachments).where(Message.text == "What is this?")
        ).one()
    assert named[0]["name"] == "Karte Süd.pdf"


_LINK = "https://exports.example/d/{name}?signature=secret-value"
_MANIFEST = {
    "data_files": [
        {"export_url": _LINK.format(name="conversations-000.zip"), "category": "chats"},
        {"export_url": _LINK.format(name="conversations-001.zip"), "category": "chats"},
        {"export_url": _LINK.format(name="projects-000.zip"), "category": "projects"},
    ]
}


def test_claudes_list_of_links_alone_says_which_files_to_fetch(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    report = import_files(kernel, principal, write(tmp_path / "manifest.json", _MANIFEST))
    assert report.state == "failed"
    assert report.error is not None
    assert "conversations-000.zip, conversations-001.zip." in report.error.message
    assert "secret-value" not in report.model_dump_json()


def test_claudes_list_beside_some_of_its_files_says_which_are_missing(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    manifest = write(tmp_path / "manifest.json", _MANIFEST)
    first = as_zip({"conversations.json": [claude("a")]}, tmp_path / "conversations-000 (1).zip")
    report = import_files(kernel, principal, manifest, first)
    assert (report.state, report.totals.new) == ("readable", 1)
    (warning,) = report.warnings
    assert "conversations-001.zip" in warning
    assert "request the export again" in warning

    second = as_zip({"conversations.json": [claude("b")]}, tmp_path / "conversations-001.zip")
    assert import_files(kernel, principal, manifest, first, second).warnings == []


def test_more_archives_than_can_be_open_cost_themselves_only(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    folder = tmp_path / "many"
    for number in range(401):
        packed = zip_bytes({"conversations.json": [chatgpt(f"c{number}")]})
        write(folder / f"{number:03}.zip", packed)
    report = import_files(kernel, principal, folder)
    assert report.totals.new == 400
    (warning,) = report.warnings
    assert "many/400.zip" in warning
    assert "Import it by itself" in warning
