"""Tar archives, bare and packed, and tars made to do harm."""

import gzip
import io
import random
import struct
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard

from backread.domain import Principal
from backread.jobs import JobInterrupted, Progress, run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from ingest.accept import RUN_JOB
from ingest.report import ImportReport, read_report
from tests.ingest.exports import (
    as_json,
    chatgpt,
    import_files,
    queue_import,
    write,
    zip_bytes,
)
from tests.ingest.stored import assert_sound

CHATS = as_json([chatgpt()])

# Nothing here depends on the database, so one is enough.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

Import = Callable[..., ImportReport]


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
def imported(kernel: Kernel, principal: Principal, settings: Settings, tmp_path: Path) -> Import:
    """Imports a file with this content; nothing may stay behind in the uploads folder."""

    def import_it(content: bytes, name: str = "export.tar") -> ImportReport:
        report = import_files(kernel, principal, write(tmp_path / name, content))
        assert not settings.uploads_dir.exists() or list(settings.uploads_dir.iterdir()) == []
        return report

    return import_it


@pytest.fixture
def refused(imported: Import) -> Callable[..., str]:
    def import_it(content: bytes, name: str = "export.tar") -> str:
        report = imported(content, name)
        assert report.state == "failed"
        assert report.totals.found == 0
        assert report.error is not None
        return report.error.message

    return import_it


def tar_bytes(
    members: Mapping[str, Any], *more: tarfile.TarInfo, form: int = tarfile.PAX_FORMAT
) -> bytes:
    """Bytes go in as they are, everything else as JSON; `more` has no content."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
        for name, content in members.items():
            body = content if isinstance(content, bytes) else as_json(content)
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
        for info in more:
            archive.addfile(info)
    return packed.getvalue()


def _header(name: str, kind: bytes, size: int) -> bytes:
    """A header whose size no writer would write."""
    info = tarfile.TarInfo(name)
    info.type = kind
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    field = (
        b"\x80" + size.to_bytes(11, "big") if size >= 0 else b"\xff" * 3 + struct.pack(">q", size)
    )
    block[124 : 124 + len(field)] = field
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\x00 " % sum(block)
    return bytes(block)


_PACKED: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("export.tar", bytes),
    ("export.tar.gz", gzip.compress),
    ("export.tgz", gzip.compress),
    ("export.tar.zst", zstandard.compress),
    ("renamed.bin", gzip.compress),
]


@pytest.mark.parametrize(("name", "pack"), _PACKED, ids=[name for name, _ in _PACKED])
def test_a_tar_is_read_however_it_is_packed_and_called(
    imported: Import, name: str, pack: Callable[[bytes], bytes]
) -> None:
    members = {
        "export/conversations-000.json": [chatgpt(f"a{n}") for n in range(80)],
        "export/photo.jpg": b"\xff\xd8\xff" * 1000,
        "export/conversations-001.json": [chatgpt("b")],
    }
    report = imported(pack(tar_bytes(members)), name)
    assert (report.state, report.totals.new) == ("readable", 81)
    assert report.warnings == []
    last = next(item for item in report.items if item.external_id == "b")
    assert last.source == f"{name}/export/conversations-001.json, no. 1"


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_names_of_every_kind_are_read_in_every_form_of_tar(imported: Import, form: int) -> None:
    long = "/".join(["folder-with-a-long-name"] * 6)
    members = {f"{long}/会話.json": [chatgpt("long")], "./CHATS.JSON": [chatgpt("upper")]}
    report = imported(tar_bytes(members, form=form))
    assert {item.external_id for item in report.items} == {"long", "upper"}


def test_a_name_that_is_no_utf8_is_read(imported: Import) -> None:
    report = imported(tar_bytes({"caf\udce9.json": CHATS}, form=tarfile.GNU_FORMAT))
    assert report.totals.new == 1


@pytest.mark.parametrize("name", ["chats.json.gz", "chats.jsonl.gz", "chats"])
def test_a_json_file_packed_with_gzip_is_read(imported: Import, name: str) -> None:
    lines = b"\n".join(as_json(chatgpt(f"c{n}")) for n in range(200))
    packed = gzip.compress(lines[: len(lines) // 2]) + gzip.compress(lines[len(lines) // 2 :])
    assert imported(packed, name).totals.new == 200


def test_packed_files_and_archives_inside_a_zip_are_read(imported: Import) -> None:
    members = {
        "one.json.gz": gzip.compress(as_json([chatgpt("one")])),
        "two.tar": tar_bytes({"two.json": [chatgpt("two")]}),
        "three.tar.gz": gzip.compress(tar_bytes({"three.json": [chatgpt("three")]})),
        "four.json.zst": zstandard.compress(as_json([chatgpt("four")])),
        "service.log.gz": gzip.compress(b"no chats"),
    }
    report = imported(zip_bytes(members), "export.zip")
    assert {item.external_id for item in report.items} == {"one", "two", "three", "four"}
    assert report.warnings == []


def test_zips_and_packed_files_inside_a_tar_are_read(imported: Import) -> None:
    members = {
        "a.zip": zip_bytes({"conversations.json": [chatgpt("zip")]}),
        "b.json.gz": gzip.compress(as_json([chatgpt("gz")])),
        "c.tar.gz": gzip.compress(
            tar_bytes({"d.zip": zip_bytes({"conversations.json": [chatgpt("too deep")]})})
        ),
    }
    report = imported(gzip.compress(tar_bytes(members)), "export.tar.gz")
    assert {item.external_id for item in report.items} == {"zip", "gz"}
    assert any("archive in an archive in an archive" in warning for warning in report.warnings)


def test_a_renamed_member_is_found_by_what_it_begins_with(imported: Import) -> None:
    members = {"photo.jpg": b"\xff\xd8" + b"x" * 510, "chats.txt": CHATS, "more.txt": b"x" * 512}
    for name, pack in _PACKED:
        assert imported(pack(tar_bytes(members)), name).totals.found == 1


def test_links_and_devices_are_passed_over(imported: Import, tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.json", [chatgpt("secret")])
    others = []
    for number, kind in enumerate(
        (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)
    ):
        info = tarfile.TarInfo(f"{number}.json")
        info.type = kind
        info.linkname = str(secret)
        others.append(info)
    report = imported(tar_bytes({"conversations.json": CHATS}, *others))
    assert (report.totals.found, report.totals.new) == (1, 1)


def test_names_that_lead_outside_are_not_read_and_told(imported: Import, tmp_path: Path) -> None:
    members = {
        "conversations.json": CHATS,
        "/etc/absolute.json": [chatgpt("absolute")],
        "../climbing.json": [chatgpt("climbing")],
    }
    report = imported(tar_bytes(members))
    assert report.totals.found == 1
    assert any("leads outside" in warning for warning in report.warnings)
    assert not (tmp_path / "climbing.json").exists()


def test_a_tar_of_something_else_says_what_it_holds(refused: Callable[..., str]) -> None:
    message = refused(tar_bytes({"holiday/beach.jpg": b"\xff\xd8\xff", "notes.txt": b"x"}))
    assert "beach.jpg" in message
    assert "no chats" in message


@pytest.mark.parametrize(("name", "pack"), _PACKED, ids=[name for name, _ in _PACKED])
def test_a_tar_that_was_cut_off_keeps_what_came_before_and_says_so(
    imported: Import, name: str, pack: Callable[[bytes], bytes]
) -> None:
    chance = random.Random(7).randbytes(400_000)
    members = {"a.json": CHATS, "film.mp4": chance, "b.json": [chatgpt("b")]}
    packed = pack(tar_bytes(members))
    report = imported(packed[: len(packed) // 2], name)
    assert (report.state, report.totals.new) == ("readable", 1)
    assert any("incomplete" in w or "damaged" in w for w in report.warnings), report.warnings


def test_a_tar_that_ends_without_its_end_mark_is_told(imported: Import) -> None:
    whole = tar_bytes({"a.json": CHATS})
    blocks = -(-len(CHATS) // 512) + 1
    report = imported(whole[: blocks * 512])
    assert report.totals.new == 1
    assert any("incomplete" in warning for warning in report.warnings)


def test_a_ruined_header_in_the_middle_is_told(imported: Import) -> None:
    packed = bytearray(tar_bytes({"a.json": CHATS, "b.json": [chatgpt("b")]}))
    packed[packed.find(b"b.json")] ^= 0xFF
    report = imported(bytes(packed))
    assert report.totals.new == 1
    assert any("damaged" in warning for warning in report.warnings)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
@pytest.mark.parametrize("size", [2**20, 2**40, 2**62])
def test_a_header_of_any_size_is_never_read_into_memory(
    refused: Callable[..., str], kind: bytes, size: int
) -> None:
    packed = _header("x", kind, size) + b"1 a=b\n" * 200_000
    assert "header larger" in refused(packed)


@pytest.mark.parametrize("name", ["export.tar", "export.tar.gz"])
@pytest.mark.parametrize("size", [-512, -1])
def test_a_size_that_leads_astray_ends_in_words(
    refused: Callable[..., str], size: int, name: str
) -> None:
    packed = _header("a.json", tarfile.REGTYPE, size) + CHATS.ljust(2048, b"\x00")
    packed = gzip.compress(packed) if name.endswith("gz") else packed
    assert "damaged" in refused(packed, name)


@pytest.mark.parametrize("name", ["export.tar", "export.tar.gz"])
def test_a_size_beyond_the_file_costs_what_is_missing(imported: Import, name: str) -> None:
    packed = _header("a.json", tarfile.REGTYPE, 2**70) + CHATS.ljust(2048, b"\x00")
    packed = gzip.compress(packed) if name.endswith("gz") else packed
    report = imported(packed, name)
    assert report.totals.new == 1
    assert any("damaged" in warning for warning in report.warnings)


def test_headers_within_headers_end_in_words(refused: Callable[..., str]) -> None:
    record = b"12 a=bcdef\n\n".ljust(512, b"\x00")
    nested = (_header("x", tarfile.XHDTYPE, 12) + record) * 5000
    assert "header larger" in refused(gzip.compress(nested), "export.tar.gz")


def test_too_many_entries_are_refused(imported: Import) -> None:
    members = {f"{n}.txt": b"" for n in range(60)} | {"conversations.json": CHATS}
    report = imported(tar_bytes(members))
    assert report.error is not None
    assert "entries" in report.error.message


@pytest.mark.parametrize("name", ["bomb.json.gz", "bomb.json.zst"])
def test_a_small_file_that_unpacks_to_very_much_is_refused(
    refused: Callable[..., str], name: str
) -> None:
    pack = gzip.compress if name.endswith("gz") else zstandard.compress
    assert "packed more than" in refused(pack(b"[" + b" " * 30_000_000), name)


def test_too_much_over_all_layers_is_refused(imported: Import) -> None:
    """Each inner zip is within the limits; together they are not."""
    body = b"[" + b" " * 9_000_000
    inner = zip_bytes({"a.json": body})
    members = {f"{n}.zip": inner for n in range(6)} | {"conversations.json": CHATS}
    report = imported(zip_bytes(members), "export.zip")
    assert report.state == "failed"
    assert report.error is not None
    assert "unpacks to more than" in report.error.message


@pytest.mark.parametrize(("name", "pack"), _PACKED, ids=[name for name, _ in _PACKED])
def test_an_interrupted_import_of_a_tar_goes_on_where_it_was(
    kernel: Kernel,
    principal: Principal,
    tmp_path: Path,
    name: str,
    pack: Callable[[bytes], bytes],
) -> None:
    members = {f"{part}.json": [chatgpt(f"c{part}-{n}") for n in range(450)] for part in range(2)}
    path = write(tmp_path / name, pack(tar_bytes(members)))
    import_id = queue_import(kernel, principal, path)
    reports = 0

    def stop(_: Progress) -> None:
        nonlocal reports
        reports += 1
        if reports % 3 == 0:
            raise JobInterrupted

    assert run_pending(kernel, names=[RUN_JOB], on_progress=stop) >= 2
    with kernel.store.read() as session:
        report = read_report(session, principal, import_id)
    assert (report.state, report.totals.new, report.totals.found) == ("readable", 900, 900)
    assert_sound(kernel, principal)
