"""Values to attack with: whose id a parameter takes, and everything that is no id."""

import random
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.nightly.isolation.doors import Door, Field
from tests.nightly.isolation.tenants import Tenant

# Tables whose ids a parameter of this name takes, the likeliest first.
WHOSE: dict[str, tuple[str, ...]] = {
    "account": ("accounts",),
    "bucket": ("buckets", "file_buckets"),
    "category": ("categories",),
    "client": ("oauth_grants",),
    "conversation": ("conversations",),
    "document": ("documents",),
    "file": ("files",),
    "folder": ("folders",),
    "frombucket": ("buckets",),
    "grant": ("oauth_grants",),
    "": ("conversations", "memories", "suggested_memories", "files", "folder_records"),
    "import": ("imports",),
    "invite": ("accounts",),
    "item": ("team_items", "memories"),
    "items": ("suggested_memories",),
    "job": ("jobs",),
    "key": ("folder_keys",),
    "memory": ("memories", "forgotten_memories"),
    "message": ("messages",),
    "passage": ("file_passages",),
    "passkey": ("passkeys",),
    "record": ("folder_records",),
    "session": ("web_sessions",),
    "supersedes": ("memories",),
    "token": ("export_links", "personal_tokens"),
    "undo": ("forgettings",),
    "upload": ("uploads",),
    "edit": ("memories", "suggested_memories"),
    "at": ("messages",),
}
_CURSORS = {"cursor", "after", "before", "next"}
_KNOWN: dict[str, list[Any]] = {
    "after": ["2020-01-01"],
    "asOf": ["2030-01-01"],
    "as_of": ["2030-01-01"],
    "before": ["2040-01-01"],
    "platform": ["chatgpt", "claude_code"],
    "type": ["file", "concept", "references", "co_occurs"],
    "week": ["2024-W10"],
}
_NO_IDS = {"currentMessageId"}

ODD: tuple[Any, ...] = (
    "",
    " ",
    None,
    [],
    ["x"],
    {},
    0,
    -1,
    1.5,
    2**63,
    10**30,
    True,
    "0",
    "-1",
    "1 OR 1=1",
    "' OR '1'='1",
    "'; DROP TABLE memories; --",
    "%",
    "_" * 26,
    "*",
    "../../etc/passwd",
    "..%2f",
    "\u202eabc\u200b",
    "１",
    "a\x00b",
    "x" * 4_000,
    "null",
    "{}",
    "[]",
    '{"$ne": null}',
)


VERY_ODD: tuple[Any, ...] = (
    "a\x00b",
    "\ud800",
    "x" * 1_000_000,
    10**400,
    -(10**400),
    -1,
    0.5,
    "\u202e\u2066تربة\u200b\u200d\u2069",
    "",
    "\x1b[31m\x7f\x85",
    [[[[[[[[[[]]]]]]]]]],
    {"a": {"b": ["c", None]}},
    None,
    2**63,
    "1e999",
    "NaN",
    "１２",
    "1_0",
    " 1 ",
    "+1",
    "0000-00-00",
    "9999-12-31T23:59:59.999999+14:00",
    "0001-01-01T00:00:00-14:00",
    ["\x00", "\udfff"],
    ["x"] * 5_000,
    True,
)
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
RAW: tuple[tuple[str, bytes], ...] = (
    (_JSON, b""),
    (_JSON, b"null"),
    (_JSON, b"[]"),
    (_JSON, b'"text"'),
    (_JSON, b"{"),
    (_JSON, b"\xff\xfe{}"),
    (_JSON, b'{"text": "a", "text": "b", "name": "a", "name": 1}'),
    (_JSON, b"[" * 100_000),
    (_JSON, b'{"a":' * 50_000),
    (_JSON, b'{"id": ' + b"1" * 5_000 + b"}"),
    (_JSON, b'{"text": NaN, "id": -Infinity}'),
    (_JSON, b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"tools/list"}'),
    (_JSON, b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}'),
    (_JSON, b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}'),
    (_FORM, b"%"),
    (_FORM, b"name=%ED%A0%80&text=%00"),
    (_FORM, b"name=a&name=b&name=c"),
    (_FORM, b"&".join(b"a=1" for _ in range(5_000))),
    ("multipart/form-data", b"--x"),
    ("multipart/form-data; boundary=x", b"--x\r\n\r\nabc"),
    ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data\r\n\r\na\r\n--x--"),
    ("text/xml", b"<a/>"),
    ("text/plain", b"{}"),
    ("", b"{}"),
    ("application/json; charset=utf-16", b"{}"),
    ("no type at all", b"\x00"),
)


@dataclass(frozen=True)
class Choice:
    """A value with an id of somebody else, and the same with one that nobody has. Where nothing is
    foreign the two are the same."""

    foreign: Any
    missing: Any

    @property
    def is_foreign(self) -> bool:
        return bool(self.foreign != self.missing)


def id_kind(field: Field) -> str | None:
    """What the parameter names by an id; None when it takes something else. Raises KeyError for a
    name that looks like one of an id and is not in the table: say there whose ids it takes."""
    bare = re.sub(r"[^a-z]", "", field.name.lower())
    if field.name in _NO_IDS:
        return None
    if field.name == "id" and field.of:
        return field.of if field.of in WHOSE else None
    for ending in ("ids", "id"):
        if field.name.lower().endswith(ending):
            kind = bare.removesuffix(ending)
            if kind not in WHOSE:
                raise KeyError(f"say in {__name__}.WHOSE which table `{field.name}` is an id of")
            return kind
    return bare if bare in WHOSE and bare else None


_HANDLE = re.compile(r"hq\d+[0-9a-f]{6}handle")


def missing_like(value: str, dice: random.Random) -> str:
    """Looks like the value, and nobody has it."""
    if _HANDLE.search(value):
        return _HANDLE.sub(lambda match: match[0][:3] + dice.randbytes(8).hex() + "handle", value)
    if value.isdigit():
        return str(10**12 + dice.randrange(10**9))
    letters = string.digits + string.ascii_lowercase
    return "".join(dice.choice(letters) if each.isalnum() else each for each in value)


class Chooser:
    """Makes values for the fields of doors, for requests of `own` against `victim`."""

    def __init__(self, dice: random.Random, own: Tenant, victim: Tenant) -> None:
        self._dice = dice
        self._own = own
        self._victim = victim

    def choose(self, door: Door, field: Field, *, aimed: bool) -> Choice | None:
        """None leaves the field out. `aimed`: ids of the victim, and nothing odd."""
        kind = id_kind(field)
        if kind is None and field.name in {"path", "name"} and "team" not in field.of:
            return self._named(door, field)
        if kind is not None:
            return self._id(door, field, kind, aimed=aimed)
        if not aimed and field.where != "path" and self._dice.random() < 0.35:
            return None
        if not aimed and self._dice.random() < 0.15:
            return self._same(self._dice.choice(ODD))
        return self._plain(field)

    def _id(self, door: Door, field: Field, kind: str, *, aimed: bool) -> Choice | None:
        tables = list(WHOSE[kind])
        if kind == "bucket" and "file" in door.title:
            tables.reverse()
        if kind == "bucket":
            tables = tables[:1]
        if kind == "undo" and self._dice.random() < 0.1:
            tables = ["memories"]
        chance = 0.0 if aimed else self._dice.random()
        if chance > 0.85 and self._is_list(field) is False:
            return self._same(self._dice.choice(ODD))
        if chance > 0.75 and field.where == "path":
            own = self._some(self._own, tables)
            return self._same(own) if own else None
        if chance > 0.7:
            # Ids of other kinds; not numbers, which may be those of something of one's own.
            tables = [
                name for name, some in self._victim.ids.items() if some and not some[0].isdigit()
            ]
        table = tables[0] if aimed else self._dice.choice(tables)
        foreign = self._some(self._victim, [table]) or self._some(self._victim, tables)
        if foreign is None:
            foreign = self._some(self._victim, list(self._victim.ids)) or "0" * 26
        missing = missing_like(foreign, self._dice)
        if self._is_list(field):
            if "$ref" in str(field.schema.get("items", {})):
                return Choice([{"id": foreign}], [{"id": missing}])
            return Choice([foreign], [missing])
        if field.where == "json" and "integer" in str(field.schema) and foreign.isdigit():
            return Choice(int(foreign), int(missing))
        return Choice(foreign, missing)

    def _some(self, tenant: Tenant, tables: Sequence[str]) -> str | None:
        values = [value for table in tables for value in tenant.ids.get(table, ())]
        return self._dice.choice(values) if values else None

    def _named(self, door: Door, field: Field) -> Choice:
        """By a path or a name, which here is as good as an id. What an attacker writes under a name
        is afterwards its own, so writing takes names that are not read, changed or deleted."""
        handle = self._victim.handle
        if field.name == "name" and not door.is_read_only:
            return self._same(f"{handle} {self._dice.randrange(10**9)}")
        if field.name == "name":
            name = f"{handle}-loom"
        else:
            is_new = door.method == "PUT" or door.title.endswith(("write", "/notes/new"))
            name = f"{handle}/{'other' if is_new else 'plan'}.md"
        return Choice(name, missing_like(name, self._dice))

    @staticmethod
    def _is_list(field: Field) -> bool:
        return field.schema.get("type") == "array" or any(
            each.get("type") == "array" for each in field.schema.get("anyOf", ())
        )

    def _plain(self, field: Field) -> Choice:
        dice, schema = self._dice, field.schema
        if field.name in _CURSORS and self._victim.cursors and dice.random() < 0.7:
            return self._same(dice.choice(self._victim.cursors))
        if field.name in _KNOWN:
            return self._same(dice.choice(_KNOWN[field.name]))
        if values := schema.get("enum") or _enum(schema):
            return self._same(dice.choice(values))
        text = str(schema)
        if "'boolean'" in text:
            return self._same(dice.choice([True, False]))
        if "'integer'" in text or "'number'" in text:
            return self._same(dice.choice([1, 1, 2, 3, 50]))
        handle = dice.choice(self._victim.texts)
        if "'array'" in text:
            return self._same([handle])
        if "'object'" in text:
            return self._same({"mark": handle})
        return self._same(handle)

    @staticmethod
    def _same(value: Any) -> Choice:
        return Choice(value, value)


def _enum(schema: dict[str, Any]) -> list[Any]:
    for name, inner in schema.get("$defs", {}).items():
        if name in str(schema.get("$ref", "")) + str(schema.get("anyOf", "")):
            return list(inner.get("enum", ()))
    return []
