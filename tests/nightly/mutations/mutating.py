"""Damage: to bytes anywhere, to the fields that hold lengths, and inside what is packed."""

import gzip
import io
import random
import zipfile
import zlib
from collections.abc import Callable

import zstandard

from tests.nightly.mutations.originals import Original

_NUMBERS = (0, 1, 2, 127, 128, 255, 256, 511, 512, 65_535, 2**16, 2**31 - 1, 2**31, 2**32 - 1)
_LARGE = (2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
_TOKENS = (
    b"[" * 400,
    b'{"a":' * 300,
    b'"',
    b"\\",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xed\xa0\xbd",
    b"1e999",
    b"-" + b"9" * 500,
    b"NaN",
    b"null",
    b"{}",
    b"]}",
    b",,",
    b"\r",
    b"\n\n",
    b"<div>" * 50,
    b"</html>",
    b"<script",
    b"---\n",
    b"## User\n",
    b"```\n",
    b'",",',
    b"A" * 5000,
)
# Signature -> the places behind it that hold lengths, counts, offsets or flags, as (place, size).
_FIELDS: dict[bytes, tuple[tuple[int, int], ...]] = {
    b"PK\x03\x04": ((6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)),
    b"PK\x01\x02": (
        *((8, 2), (10, 2), (16, 4), (20, 4), (24, 4)),
        *((28, 2), (30, 2), (32, 2), (38, 4), (42, 4)),
    ),
    b"PK\x05\x06": ((8, 2), (10, 2), (12, 4), (16, 4), (20, 2)),
    b"PK\x06\x06": ((4, 8), (24, 8), (32, 8), (40, 8), (48, 8)),
    b"PK\x06\x07": ((8, 8),),
    b"SQLite format 3\x00": (
        *((16, 2), (18, 1), (20, 1), (28, 4), (32, 4), (36, 4)),
        *((44, 4), (56, 4), (100, 1), (103, 2), (105, 2)),
    ),
}
_TAR_BLOCK = 512
_CHANGE_COUNTS = (1, 1, 1, 1, 2, 2, 3, 6)
_REPACKED = 0.5  # of the files that hold packed ones


def mutated(original: Original, others: list[bytes], chance: random.Random) -> Original:
    """A damaged copy."""
    if isinstance(original, dict):
        return _mutated_folder(original, others, chance)
    if chance.random() < _REPACKED:
        for inside in (_inside_gzip, _inside_zstd, _inside_zip):
            changed = inside(original, others, chance)
            if changed is not None:
                return changed
    return _mutated_bytes(original, others, chance)


def _mutated_bytes(content: bytes, others: list[bytes], chance: random.Random) -> bytes:
    body = bytearray(content)
    for _ in range(chance.choice(_CHANGE_COUNTS)):
        if body:
            chance.choice(_CHANGES)(body, others, chance)
    return bytes(body)


def _mutated_folder(
    original: dict[str, bytes], others: list[bytes], chance: random.Random
) -> dict[str, bytes]:
    names = list(original)
    changed = dict(original)
    for name in chance.sample(names, min(len(names), chance.randint(1, 3))):
        what = chance.random()
        if what < 0.1:
            del changed[name]
        elif what < 0.2:
            changed[f"{name}/inside.json"] = changed.pop(name)  # a folder of the file's name
        elif what < 0.3:
            changed[
                chance.choice((f"copy of {name}", f"{name}.zip", f"{name}.gz", f"x/{name}"))
            ] = changed[name]
        else:
            changed[name] = _mutated_bytes(changed[name], others, chance)
    return changed


def _inside_gzip(content: bytes, others: list[bytes], chance: random.Random) -> bytes | None:
    if not content.startswith(b"\x1f\x8b"):
        return None
    return gzip.compress(_mutated_bytes(gzip.decompress(content), others, chance), 1, mtime=0)


def _inside_zstd(content: bytes, others: list[bytes], chance: random.Random) -> bytes | None:
    if not content.startswith(b"\x28\xb5\x2f\xfd"):
        return None
    return zstandard.compress(
        _mutated_bytes(zstandard.decompress(content), others, chance), level=1
    )


def _inside_zip(content: bytes, others: list[bytes], chance: random.Random) -> bytes | None:
    if not content.startswith(b"PK\x03\x04"):
        return None
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source:
        names = source.namelist()
        wanted = chance.choice(names)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
            for name in names:
                body = source.read(name)
                target.writestr(
                    name, _mutated_bytes(body, others, chance) if name == wanted else body
                )
    return packed.getvalue()


_Change = Callable[[bytearray, list[bytes], random.Random], None]


def _range(body: bytearray, chance: random.Random, most: int = 4096) -> slice:
    start = chance.randrange(len(body))
    return slice(start, min(len(body), start + int(chance.triangular(1, most, 1)) + 1))


def _flip_bits(body: bytearray, others: list[bytes], chance: random.Random) -> None:
    for _ in range(chance.randint(1, 8)):
        body[chance.randrange(len(body))] ^= 1 << chance.randrange(8)


def _replace_bytes(body: bytearray, others: list[bytes], chance: random.Random) -> None:
    where = _range(body, chance, 64)
    body[where] = chance.randbytes(where.stop - where.start)


def _truncate(body: bytearray, others: list[bytes], chance: random.Random) -> None:
    del body[chance.randrange(len(body)) :]


def _cut_front(body: bytearray, others: list[bytes], chance: random.Random) -> None:
    del body[: chance.randint(1, min(len(body), 600))]


def _remove(body: bytearray, others: list[bytes], chance: random.Random) -> None:
    del body[_range(body, chance)]


def _double(body: bytearray, others: list[bytes], chance: random.Random) -> None:
    where = _range(body, chance)
    at = chance.randrange(len(body))
    body[at:at] = body[where] * chance.randint(1, 4)


def _splice(body: bytearray, others: list[bytes], chance: random.Random) -> None:
    other = chance.choice(others)
    body[chance.randrange(len(body)) :] = other[chance.randrange(len(other)) :]


def _insert_token(body: bytearray, others: list[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(body))
    body[at:at] = chance.choice(_TOKENS)


def _swap(body: bytearray, others: list[bytes], chance: random.Random) -> None:
    first, second = _range(body, chance, 512), _range(body, chance, 512)
    body[first], body[second] = body[second], body[first]


def _set_length(body: bytearray, others: list[bytes], chance: random.Random) -> None:
    """A field that holds a length; where none is known, any place."""
    known = [signature for signature in _FIELDS if signature in body]
    if _is_tar(body) and chance.random() < 0.8:
        _set_tar_field(body, chance)
        return
    if known and chance.random() < 0.9:
        signature = chance.choice(known)
        places = _places(body, signature)
        place, size = chance.choice(_FIELDS[signature])
        at = chance.choice(places) + place
    else:
        at, size = chance.randrange(len(body)), chance.choice((1, 2, 4, 8))
    order = "big" if body.startswith(b"SQLite") else "little"
    number = chance.choice((*_NUMBERS, *_LARGE, chance.getrandbits(64), len(body)))
    body[at : at + size] = (number % 256**size).to_bytes(size, order)


def _places(body: bytearray, signature: bytes) -> list[int]:
    found, at = [], body.find(signature)
    while at >= 0:
        found.append(at)
        at = body.find(signature, at + 1)
    return found


def _is_tar(body: bytearray) -> bool:
    return body[257:262] == b"ustar"


def _set_tar_field(body: bytearray, chance: random.Random) -> None:
    """Name, size, type or magic of a header, mostly with a checksum that is right again."""
    starts = [at - 257 for at in _places(body, b"ustar") if at >= 257]
    start = chance.choice(starts)
    field = chance.randrange(4)
    if field == 0:
        size = chance.choice((*_NUMBERS, *_LARGE, chance.getrandbits(40)))
        value = (
            b"\x80" + size.to_bytes(11, "big")
            if chance.random() < 0.5
            else b"%011o\x00" % (size % 8**11)
        )
        body[start + 124 : start + 136] = value
    elif field == 1:
        body[start + 156] = ord(chance.choice("0123456789xgLKSDVNX\x00\xff"))
    elif field == 2:
        name = chance.choice(
            (b"/etc/x.json", b"../x.json", b"\xff" * 90, b"", b"x.zip", b"y.json.gz")
        )
        body[start : start + 100] = name.ljust(100, b"\x00")
    else:
        body[start + 257 : start + 265] = chance.choice((b"ustar  \x00", b"ustar\x0000", bytes(8)))
    if chance.random() < 0.8:
        block = body[start : start + _TAR_BLOCK]
        block[148:156] = b" " * 8
        body[start + 148 : start + 156] = b"%06o\x00 " % sum(block)


def _fix_crc(body: bytearray, others: list[bytes], chance: random.Random) -> None:
    """The checksum at gzip's end for other content, so that damage is not found by it alone."""
    if body.startswith(b"\x1f\x8b") and len(body) > 18:
        body[-8:-4] = zlib.crc32(bytes(body[10:-8])).to_bytes(4, "little")
    else:
        _flip_bits(body, others, chance)


_CHANGES: tuple[_Change, ...] = (
    _flip_bits,
    _replace_bytes,
    _truncate,
    _cut_front,
    _remove,
    _double,
    _splice,
    _insert_token,
    _swap,
    _set_length,
    _set_length,
    _set_length,
    _fix_crc,
)
