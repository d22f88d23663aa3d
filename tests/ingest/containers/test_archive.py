"""Zips made to do harm, and zips that are only unusual."""

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from backread.domain import Principal
from backread.kernel import Kernel
from backread.settings import Settings
from ingest.report import ImportReport
from tests.ingest.exports import as_json, as_zip, chatgpt, import_files, zip_bytes

CHATS = as_json([chatgpt()])


# Nothing here depends on the database, so one is enough.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture
def settings(home: Path, database: str) -> Settings:
    return Settings(
        home=home,
        database_url=database,
        embedding_model="hashing",
        archive_max_entries=50,
        archive_max_inflated_bytes=40 * 1024**2,
    )


@pytest.fixture
def refused(kernel: Kernel, principal: Principal, tmp_path: Path) -> Callable[[bytes], str]:
    """Imports a zip that must be refused; returns what the report says."""

    def import_it(packed: bytes) -> str:
        path = tmp_path / "export.zip"
        path.write_bytes(packed)
        report = import_files(kernel, principal, path)
        assert report.state == "failed"
        assert report.totals.found == 0
        assert report.error is not None
        return report.error.message

    return import_it


@pytest.fixture
def accepted(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> Callable[[bytes], ImportReport]:
    def import_it(packed: bytes) -> ImportReport:
        path = tmp_path / "export.zip"
        path.write_bytes(packed)
        report = import_files(kernel, principal, path)
        assert report.state == "readable", report.error
        return report

    return import_it


def _with_entry(name: str, *, mode: int | None = None) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("conversations.json", CHATS)
        info = zipfile.ZipInfo("placeholder")
        info.filename = info.orig_filename = name
        if mode is not None:
            info.create_system = 3
            info.external_attr = mode << 16
        archive.writestr(info, b"x")
    return packed.getvalue()


@pytest.mark.parametrize(
    "name", ["../evil.json", "/etc/passwd", "a/../../b", "C:\\evil.txt", "..\\evil", "\\\\host\\x"]
)
def test_names_that_lead_outside_are_refused(refused: Callable[[bytes], str], name: str) -> None:
    assert "leads outside" in refused(_with_entry(name))


def test_symbolic_links_are_refused(refused: Callable[[bytes], str]) -> None:
    assert "symbolic link" in refused(_with_entry("link", mode=0o120777))


def test_encrypted_zips_are_refused_with_advice(refused: Callable[[bytes], str]) -> None:
    packed = bytearray(zip_bytes({"conversations.json": CHATS}))
    directory = packed.rfind(b"PK\x01\x02")
    packed[directory + 8] |= 1
    packed[6] |= 1
    assert "encrypted" in refused(bytes(packed))


def test_overlapping_entries_are_refused(refused: Callable[[bytes], str]) -> None:
    packed = bytearray(zip_bytes({"a.json": CHATS, "b.json": CHATS}))
    second = packed.rfind(b"PK\x01\x02")
    struct.pack_into("<I", packed, second + 42, 0)  # both entries claim the first one's bytes
    assert "overlap" in refused(bytes(packed))


def test_entries_that_reach_over_the_directory_are_refused(refused: Callable[[bytes], str]) -> None:
    packed = bytearray(zip_bytes({"a.json": CHATS}))
    directory = packed.rfind(b"PK\x01\x02")
    struct.pack_into("<I", packed, directory + 20, 10_000_000)  # compressed size
    assert "outside the file" in refused(bytes(packed))


def test_too_many_entries_are_refused(refused: Callable[[bytes], str]) -> None:
    members = {f"{n}.txt": b"" for n in range(60)} | {"conversations.json": CHATS}
    assert "entries" in refused(zip_bytes(members))


def test_a_small_file_that_unpacks_to_very_much_is_refused(refused: Callable[[bytes], str]) -> None:
    assert "packed more than" in refused(
        zip_bytes({"conversations.json": b"[" + b" " * 30_000_000})
    )


def test_too_much_in_total_is_refused(refused: Callable[[bytes], str]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for n in range(5):
            archive.writestr(f"{n}.json", b"[" + b" " * 9_000_000)
    assert "unpacks to more than" in refused(packed.getvalue())


def test_a_directory_that_lies_about_sizes_is_found_out(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    packed = bytearray(zip_bytes({"conversations.json": as_json([chatgpt()] * 50)}))
    directory = packed.rfind(b"PK\x01\x02")
    struct.pack_into("<I", packed, directory + 24, 100)  # says it unpacks to 100 bytes
    path = tmp_path / "export.zip"
    path.write_bytes(packed)
    report = import_files(kernel, principal, path)
    assert report.state == "failed"
    assert report.error is not None
    assert "damaged" in report.error.message


def test_a_zip_that_was_cut_off_says_to_download_it_again(refused: Callable[[bytes], str]) -> None:
    packed = zip_bytes({"conversations.json": CHATS})
    message = refused(packed[: len(packed) // 2])
    assert "incomplete" in message
    assert "Download it again" in message


def test_a_zip_with_a_ruined_directory_is_refused(refused: Callable[[bytes], str]) -> None:
    packed = bytearray(zip_bytes({"conversations.json": CHATS}))
    directory = packed.rfind(b"PK\x01\x02")
    packed[directory : directory + 4] = b"\x00" * 4
    assert "damaged" in refused(bytes(packed))


def test_an_unknown_way_of_packing_is_told(refused: Callable[[bytes], str]) -> None:
    packed = bytearray(zip_bytes({"conversations.json": CHATS}))
    directory = packed.rfind(b"PK\x01\x02")
    struct.pack_into("<H", packed, directory + 10, 9)  # Deflate64
    assert "packed in a way" in refused(bytes(packed))


def test_an_empty_zip_is_told(refused: Callable[[bytes], str]) -> None:
    assert "empty zip" in refused(zip_bytes({}))


def test_a_zip_of_something_else_says_what_it_holds(refused: Callable[[bytes], str]) -> None:
    message = refused(zip_bytes({"holiday/beach.jpg": b"\xff\xd8\xff", "notes.txt": b"x"}))
    assert "beach.jpg" in message
    assert "no chats" in message


def test_an_office_document_is_told(refused: Callable[[bytes], str]) -> None:
    assert "Office document" in refused(zip_bytes({"[Content_Types].xml": b"<x/>", "w/d.xml": b""}))


def test_a_zip64_archive_written_as_a_stream_is_read(
    accepted: Callable[[bytes], ImportReport],
) -> None:
    class Unseekable(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise io.UnsupportedOperation

    packed = Unseekable()
    with (
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("conversations.json", "w", force_zip64=True) as stream,
    ):
        stream.write(CHATS)
    assert accepted(packed.getvalue()).totals.new == 1


def test_names_in_other_scripts_are_read(accepted: Callable[[bytes], ImportReport]) -> None:
    report = accepted(zip_bytes({"экспорт/会話.json": CHATS}))
    assert report.items[0].source.endswith("экспорт/会話.json, no. 1")


def test_a_member_that_is_there_twice_is_read_twice_with_a_warning(
    accepted: Callable[[bytes], ImportReport],
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("conversations.json", CHATS)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("conversations.json", as_json([chatgpt(), chatgpt("conv-2")]))
    report = accepted(packed.getvalue())
    assert (report.totals.new, report.totals.unchanged) == (2, 1)
    assert "more than once" in report.warnings[0]


def test_attachments_are_never_opened(accepted: Callable[[bytes], ImportReport]) -> None:
    members = {
        "conversations.json": CHATS,
        "file-abc-conversations.json": as_json([chatgpt("from an attachment")]),
        "file_00.dat": b"\x00" * 100,
        "__MACOSX/._conversations.json": b"\x00\x05\x16\x07",
    }
    report = accepted(zip_bytes(members))
    assert report.totals.found == 1
    assert report.warnings == []


def test_zips_inside_a_zip_are_opened_one_level_deep(
    accepted: Callable[[bytes], ImportReport], settings: Settings
) -> None:
    inner = zip_bytes({"conversations.json": CHATS})
    deeper = zip_bytes({"deeper.zip": zip_bytes({"conversations.json": [chatgpt("deep")]})})
    report = accepted(zip_bytes({"part-1.zip": inner, "part-2.zip": deeper}))
    assert report.totals.new == 1
    assert any("archive in an archive in an archive" in warning for warning in report.warnings)
    assert list(settings.uploads_dir.iterdir()) == []


def test_nothing_is_ever_written_where_a_zip_says(
    refused: Callable[[bytes], str], tmp_path: Path
) -> None:
    before = {path for path in tmp_path.rglob("*") if "home" not in path.parts}
    refused(_with_entry("../escaped.json"))
    after = {path for path in tmp_path.rglob("*") if "home" not in path.parts}
    assert after - before <= {tmp_path / "export.zip"}


def test_a_renamed_member_is_found_by_what_it_begins_with(
    accepted: Callable[[bytes], ImportReport],
) -> None:
    assert accepted(zip_bytes({"chats.txt": CHATS, "photo.jpg": b"\xff\xd8"})).totals.new == 1


def test_a_damaged_member_costs_itself_and_the_others_are_read(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    path = as_zip(
        {
            "conversations-000.json": as_json([chatgpt(f"c{n}") for n in range(300)]),
            "conversations-001.json": as_json([chatgpt("other")]),
        },
        tmp_path / "export.zip",
    )
    packed = bytearray(path.read_bytes())
    packed[2000:2040] = b"\xff" * 40
    path.write_bytes(packed)
    report = import_files(kernel, principal, path)
    assert report.state == "readable"
    assert report.totals.failed == 1
    assert "damaged" in report.items[0].reason
    assert any(item.external_id == "other" for item in report.items)
