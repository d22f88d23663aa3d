"""Addresses of notes: POSIX paths that end in `.md`, the same on every file system.

No folder may end in `.md`, so a note and a folder never want one name. Nothing may begin with a
dot, so no note can be a part of git's own files or of an editor's settings.
"""

import unicodedata

from backread.errors import InvalidInput

MAX_BYTES = 512
MAX_PART_BYTES = 200
MAX_PARTS = 20
ENDING = ".md"

_JOINERS = "\u200c\u200d"  # they shape Persian, Indic scripts and emoji
_FORBIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_WINDOWS_ALIASES = ("git~1",)  # what Windows may call `.git`
_LIKE_THIS = "It looks like work/tasks/foo.md."


def note_path(text: str) -> str:
    """The path in its normal form (Unicode NFC). Raises InvalidInput for one that no note has."""
    path = unicodedata.normalize("NFC", text)
    if not path.endswith(ENDING):
        raise _refused(path, "does not end in .md", "Add .md: notes are Markdown files.")
    _check(path)
    folder, _, name = path.rpartition("/")
    _check_folder_names(path, folder)
    if len(name) == len(ENDING):
        raise _refused(path, "has no name before .md", _LIKE_THIS)
    return path


def folder_path(text: str) -> str:
    """The folder in its normal form, "" for the root. One slash at the end is left out. Raises
    InvalidInput for one that no note can lie in."""
    folder = unicodedata.normalize("NFC", text.strip())
    folder = folder if folder == "/" else folder.removesuffix("/")
    if not folder:
        return ""
    if folder.startswith("/"):
        raise _refused(
            folder, "begins with a slash", "Leave it out, and the folder too for all notes."
        )
    _check(folder)
    _check_folder_names(folder, folder)
    return folder


def folder_of(path: str) -> str:
    """The folder that a note lies in, "" for the root."""
    return path.rpartition("/")[0]


def stem_of(path: str) -> str:
    """The file's name without folder and ending."""
    return path.rpartition("/")[2].removesuffix(ENDING)


def _check(path: str) -> None:
    if path.startswith("/"):
        raise _refused(path, "begins with a slash", "Leave it out. " + _LIKE_THIS)
    if "\\" in path:
        raise _refused(path, "has a backslash", "Separate folders with /.")
    if len(path.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise _refused(path, f"is longer than {MAX_BYTES} bytes", "Use shorter names.")
    parts = path.split("/")
    if len(parts) > MAX_PARTS:
        raise _refused(path, f"has more than {MAX_PARTS} parts", "Use fewer folders.")
    for part in parts:
        _check_part(path, part)


def _check_part(path: str, part: str) -> None:
    if not part:
        raise _refused(path, "has an empty part", "Use one slash between two names.")
    if part in {".", ".."}:
        raise _refused(path, f"has the part {part}", "Give the path from the root, without dots.")
    if part.startswith("."):
        raise _refused(path, "has a part that begins with a dot", "Use another name.")
    if part != part.strip() or part.endswith("."):
        raise _refused(
            path, "has a part with a space at an edge or a dot at its end", "Take it out."
        )
    if len(part.encode("utf-8", "surrogatepass")) > MAX_PART_BYTES:
        raise _refused(
            path, f"has a part longer than {MAX_PART_BYTES} bytes", "Use a shorter name."
        )
    if any(_is_forbidden(part, index) for index in range(len(part))):
        raise _refused(path, "has a control character or one that cannot be seen", "Take it out.")
    if part.casefold() in _WINDOWS_ALIASES:
        raise _refused(path, f"has the part {part}", "Use another name.")


def _is_forbidden(part: str, index: int) -> bool:
    character = part[index]
    if character in _JOINERS:
        return index == 0
    return unicodedata.category(character) in _FORBIDDEN


def _check_folder_names(path: str, folder: str) -> None:
    for part in filter(None, folder.split("/")):
        if part.lower().endswith(ENDING):
            raise _refused(
                path, "has a folder that ends in .md", "Only the note itself ends in .md."
            )


def _refused(path: str, why: str, hint: str) -> InvalidInput:
    shown = "".join(each if each.isprintable() else "�" for each in path[:120])
    return InvalidInput(f"The path “{shown}” {why}.", hint=hint)
