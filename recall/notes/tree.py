"""Notes as a tree of folders, two levels at a time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from backread.domain import Principal
from backread.errors import LimitExceeded
from backread.kernel import Kernel
from backread.notes.paths import folder_path
from backread.store.engine import ReadSession
from backread.store.repositories.notes import ListedNote, list_notes
from recall.notes.searching import checked_tags
from recall.notes.views import InnerEntry, NoteTree, TreeEntry, moment, seen

MAX_DEPTH = 2
ENTRIES_PER_FOLDER = 100
MOST_ENTRIES = 500  # in one answer


@dataclass(slots=True)
class Folder:
    """What lies in a folder. `files` counts the notes in it and below."""

    files: int = 0
    folders: "dict[str, Folder]" = field(default_factory=dict)
    notes: list[ListedNote] = field(default_factory=list)

    @property
    def entries(self) -> int:
        return len(self.folders) + len(self.notes)


def list_tree(
    kernel: Kernel,
    principal: Principal,
    *,
    folder: str = "",
    depth: int = MAX_DEPTH,
    tags: Sequence[str] = (),
) -> NoteTree:
    """The folder and what is in it. One that does not exist is empty. Raises InvalidInput for
    what is no folder's path."""
    folder = folder_path(folder)
    if not 1 <= depth <= MAX_DEPTH:
        raise LimitExceeded(f"`depth` is {depth}; 1 to {MAX_DEPTH} are allowed.")
    with kernel.store.read() as session:
        notes = notes_with(session, principal, tags)
    return _tree(folder, grown(notes, folder), depth)


def notes_with(session: ReadSession, principal: Principal, tags: Sequence[str]) -> list[ListedNote]:
    """Notes that have all of the tags, by path."""
    wanted = set(checked_tags(tags))
    return [each for each in list_notes(session, principal.account_id) if wanted <= set(each.tags)]


def grown(notes: Iterable[ListedNote], folder: str) -> Folder:
    """The notes below a folder as a tree."""
    root = Folder()
    start = f"{folder}/" if folder else ""
    for note in notes:
        if not note.path.startswith(start):
            continue
        place = root
        place.files += 1
        *names, _ = note.path[len(start) :].split("/")
        for name in names:
            place = place.folders.setdefault(name, Folder())
            place.files += 1
        place.notes.append(note)
    return root


def _tree(path: str, root: Folder, depth: int) -> NoteTree:
    is_cut = root.entries > ENTRIES_PER_FOLDER
    folders = sorted(root.folders.items())[:ENTRIES_PER_FOLDER]
    notes = root.notes[: ENTRIES_PER_FOLDER - len(folders)]
    left = MOST_ENTRIES - len(folders) - len(notes)
    entries: list[TreeEntry] = []
    for name, inner in folders:
        entry = TreeEntry(type="folder", path=_below(path, name), files=inner.files)
        if depth > 1:
            if inner.entries > min(ENTRIES_PER_FOLDER, left):
                entry.truncated = is_cut = True
            else:
                left -= inner.entries
                entry.entries = _inside(entry.path, inner)
        entries.append(entry)
    entries += [TreeEntry(**_file(note)) for note in notes]
    return NoteTree(folder=path, entries=entries, truncated=is_cut, files=root.files)


def _inside(path: str, folder: Folder) -> list[InnerEntry]:
    folders = [
        InnerEntry(type="folder", path=_below(path, name), files=inner.files)
        for name, inner in sorted(folder.folders.items())
    ]
    return [*folders, *(InnerEntry(**_file(note)) for note in folder.notes)]


def _file(note: ListedNote) -> dict[str, str]:
    return {
        "type": "file",
        "path": note.path,
        "title": seen(note.title),
        "updated": moment(note.updated_at),
    }


def _below(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name
