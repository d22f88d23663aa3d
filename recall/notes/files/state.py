"""What a folder and the notes had in common when they were last synchronised."""

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import orjson

from backread.errors import Conflict, InvalidInput

FOLDER = ".backread"
_FILE = "sync.json"
_FORM = 1


class Agreed(NamedTuple):
    """The revision that the file said, too, and the file's own checksum."""

    note_id: str
    number: int
    sha256: str


@dataclass(slots=True)
class SyncState:
    """What was agreed on, by path."""

    account_id: str
    notes: dict[str, Agreed] = field(default_factory=dict)


def load(root: Path, account_id: str) -> SyncState:
    """An empty one for a folder that was never synchronised. Raises Conflict for a folder of
    another account, InvalidInput for a file that cannot be read."""
    file = root / FOLDER / _FILE
    if file.parent.is_symlink() or file.is_symlink():
        raise InvalidInput(f"{file} is a link.", hint="Remove it.")
    try:
        stored = orjson.loads(file.read_bytes())
        if stored["backread_sync"] != _FORM:
            raise ValueError("of another form")
        found = SyncState(str(stored["account"]))
        for path, (note_id, number, sha256) in stored["notes"].items():
            found.notes[str(path)] = Agreed(str(note_id), int(number), str(sha256))
    except FileNotFoundError:
        return SyncState(account_id)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"{file} cannot be read.",
            hint="Remove it; files and notes that differ are then kept side by side.",
        ) from error
    if found.account_id != account_id:
        raise Conflict(
            f"{root} is synchronised with another account.",
            hint=f"Name that account, or another folder; or remove {file}.",
        )
    return found


def save(root: Path, state: SyncState) -> None:
    """Puts the whole state in place at once."""
    folder = root / FOLDER
    folder.mkdir(exist_ok=True)
    notes = {path: list(agreed) for path, agreed in state.notes.items()}
    content = orjson.dumps(
        {"backread_sync": _FORM, "account": state.account_id, "notes": notes},
        option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS,
    )
    partial = folder / f".{secrets.token_hex(8)}.tmp"
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / _FILE)
