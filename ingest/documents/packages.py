"""Documents that are zips of XML parts. Checked before anything is read, counted while it is."""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO, Final
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from ingest.documents.problems import Refused

_MOST_PARTS: Final = 10_000
_RATIO: Final = 200
_RATIO_FROM_BYTES: Final = 10 * 1024**2
_CHUNK_BYTES: Final = 256 * 1024
_PROLOG_BYTES: Final = 64 * 1024
_LOCAL_HEADER_BYTES: Final = 30
_ENCRYPTED: Final = 0x1
_DECLARES: Final = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    OverflowError,
    NotImplementedError,
    OSError,
)


class Package:
    """A zip that has passed the checks. Raises Refused, by name."""

    def __init__(self, file: BinaryIO, *, inflated_bytes: int) -> None:
        self._most = inflated_bytes
        self._read = 0
        try:
            self._zip = zipfile.ZipFile(file)
        except _DAMAGE as error:
            raise Refused("damaged", "its parts cannot be listed.") from error
        entries = self._zip.infolist()
        if len(entries) > _MOST_PARTS:
            raise Refused("too_many_parts")
        end = 0
        for info in sorted(entries, key=lambda each: each.header_offset):
            if info.flag_bits & _ENCRYPTED:
                raise Refused("encrypted")
            if info.header_offset < end:
                raise Refused("overlapping")
            end = info.header_offset + _LOCAL_HEADER_BYTES + info.compress_size
            self._check_ratio(info, info.file_size)
        if sum(info.file_size for info in entries) > inflated_bytes:
            raise Refused("unpacks_too_large")
        self.names = [info.filename for info in entries]
        self._parts = {info.filename: info for info in entries}

    def has(self, name: str) -> bool:
        return name in self._parts

    def read(self, name: str) -> bytes:
        """A part's bytes. Raises Refused when it is missing, damaged, or more comes out than is
        allowed, whatever the directory says."""
        info = self._parts.get(name)
        if info is None:
            raise Refused("damaged", f"its part {name[:80]} is missing.")
        done = bytearray()
        try:
            with self._zip.open(info) as stream:
                while chunk := stream.read(_CHUNK_BYTES):
                    done += chunk
                    self._read += len(chunk)
                    self._check_ratio(info, len(done))
                    if self._read > self._most:
                        raise Refused("unpacks_too_large")
        except _DAMAGE as error:
            raise Refused("damaged", f"its part {name[:80]} cannot be unpacked.") from error
        return bytes(done)

    def xml(self, name: str) -> bytes:
        """A part that is XML and declares no document type: no entity can be in it then."""
        data = self.read(name)
        if _DECLARES.search(data[:_PROLOG_BYTES]):
            raise Refused("entities")
        return data

    def check_all_xml(self) -> None:
        """For a reader that opens the package by itself."""
        for name in self.names:
            if name.endswith((".xml", ".rels", ".vml")):
                self.xml(name)

    def _check_ratio(self, info: zipfile.ZipInfo, inflated: int) -> None:
        if inflated > _RATIO_FROM_BYTES and inflated > _RATIO * max(1, info.compress_size):
            raise Refused("unpacks_too_large")


def events(data: bytes) -> Iterator[tuple[str, Element]]:
    """Starts and ends of the elements, in order. Names have no namespace: `p`, not `{…}p`."""
    try:
        yield from iterparse(BytesIO(data), ("start", "end"), forbid_dtd=True)
    except DefusedXmlException as error:
        raise Refused("entities") from error
    except ParseError as error:
        raise Refused("damaged", "its XML is broken.") from error


def name_of(element: Element) -> str:
    """An element's name without its namespace."""
    return str(element.tag).rpartition("}")[2]


def attribute(element: Element, name: str) -> str:
    """An attribute by its name without namespace; "" when it is not there."""
    for key, value in element.attrib.items():
        if key == name or key.endswith("}" + name):
            return value
    return ""


def related(package: Package, part: str) -> dict[str, str]:
    """What a part refers to: id -> name of the other part."""
    folder, _, name = part.rpartition("/")
    path = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
    if not package.has(path):
        return {}
    found = {}
    for event, element in events(package.xml(path)):
        is_one = event == "end" and name_of(element) == "Relationship"
        if is_one and element.get("TargetMode") != "External":
            found[element.get("Id", "")] = resolved(folder, element.get("Target", ""))
    return found


def resolved(folder: str, target: str) -> str:
    """The name of a part that is named as seen from a folder."""
    if target.startswith("/"):
        return target[1:]
    parts = [part for part in folder.split("/") if part]
    for part in target.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
