"""Addresses of notes in the web app, and what a form's text says."""

from urllib.parse import quote, urlencode

from backread.notes.paths import folder_of
from backread.store.models import Note


def note_address(path: str, ending: str = "", **query: str | int) -> str:
    """The note's page, or with an ending one of its further pages."""
    asked = urlencode({key: value for key, value in query.items() if value})
    return f"/notes/{quote(path)}{ending}" + (f"?{asked}" if asked else "")


def folder_address(folder: str, **query: str) -> str:
    asked = urlencode({key: value for key, value in {"folder": folder, **query}.items() if value})
    return "/notes" + (f"?{asked}" if asked else "")


def crumbs(path: str) -> list[tuple[str, str]]:
    """The folders above a note with their addresses, the outermost first."""
    parts = [part for part in folder_of(path).split("/") if part]
    return [(part, folder_address("/".join(parts[: at + 1]))) for at, part in enumerate(parts)]


def text_of_form(text: str, note: Note | None) -> str:
    """Browsers end lines with CR LF whatever they were given."""
    ends_otherwise = note is not None and "\r\n" in note.body
    return text if ends_otherwise else text.replace("\r\n", "\n")
