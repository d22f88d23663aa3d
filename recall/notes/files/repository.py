"""Notes as a git repository: each revision one commit, by who made it and when.

A commit's message ends with a line that holds what git has no place for, so that the history can
be taken back without loss. Only files and trees are read out of a repository, never its settings
or hooks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from dulwich.errors import NotGitRepository
from dulwich.index import build_index_from_tree
from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.refs import Ref
from dulwich.repo import Repo

from backread.errors import Conflict, InvalidInput
from backread.notes.frontmatter import join
from backread.store.models import NoteRevision

BRANCH = Ref(b"refs/heads/main")
_TRAILER = "Backread-Revision: "
_FILE_MODE, _TREE_MODE = 0o100644, 0o040000
_WORDS = {
    "write": "Write",
    "edit": "Edit",
    "delete": "Delete",
    "restore": "Restore",
    "import": "Import",
    "sync": "Sync",
}
_NOT_IN_NAMES = re.compile(r"[<>\n\r\x00]")
_MOST_COMMITS = 1_000_000


@dataclass(frozen=True, slots=True)
class Change:
    """What one commit did to one file; `text` None: it deleted it. `about` is what Backread's own
    line says, None in other people's commits."""

    path: str
    text: bytes | None
    author: str
    made_at: datetime
    about: dict[str, Any] | None


class NotesRepository:
    """A new repository with a working tree, written commit by commit."""

    def __init__(self, target: Path) -> None:
        """Raises Conflict when there is something already."""
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise Conflict(f"{target} is there already and not empty.", hint="Name a new folder.")
        self._repo = Repo.init(str(target), mkdir=not target.exists(), default_branch=b"main")
        self._root: dict[str, Any] = {}
        self._trees: dict[str, ObjectID] = {}
        self._head: ObjectID | None = None
        self.commits = 0

    def add(self, revision: NoteRevision, path: str, name: str, email: str) -> None:
        """Commits a revision."""
        store = self._repo.object_store
        if revision.is_deleted:
            self._put(path, None)
        else:
            blob = Blob.from_string(join(revision.front, revision.body).encode())
            store.add_object(blob)
            self._put(path, blob.id)
        commit = Commit()
        commit.tree = self._tree_of("", self._root)
        commit.parents = [self._head] if self._head else []
        who = f"{_plain(name) or 'Backread'} <{_plain(email)}>".encode()
        commit.author = commit.committer = who
        commit.author_time = commit.commit_time = int(revision.made_at.timestamp())
        commit.author_timezone = commit.commit_timezone = 0
        commit.encoding = b"UTF-8"
        commit.message = _message(revision, path)
        store.add_object(commit)
        self._head = commit.id
        self.commits += 1

    def finish(self) -> None:
        """Makes the branch and the working tree."""
        if self._head is not None:
            self._repo.refs[BRANCH] = self._head
            tree = self._repo[self._repo[self._head].tree]  # type: ignore[attr-defined]
            build_index_from_tree(
                self._repo.path, self._repo.index_path(), self._repo.object_store, tree.id
            )
        self._repo.close()

    def _put(self, path: str, blob: ObjectID | None) -> None:
        *folders, name = path.split("/")
        place, walked = self._root, [self._root]
        self._trees.pop("", None)
        for depth, folder in enumerate(folders, 1):
            self._trees.pop("/".join(folders[:depth]), None)
            place = place.setdefault(folder, {})
            walked.append(place)
        if blob is not None:
            place[name] = blob
            return
        place.pop(name, None)
        for folder, above in zip(reversed(folders), reversed(walked[:-1]), strict=True):
            if not above[folder]:
                del above[folder]

    def _tree_of(self, path: str, folder: dict[str, Any]) -> ObjectID:
        """Only what changed is made anew."""
        known = self._trees.get(path)
        if known is not None:
            return known
        tree = Tree()
        for name, what in folder.items():
            if isinstance(what, dict):
                below = f"{path}/{name}" if path else name
                tree.add(name.encode(), _TREE_MODE, self._tree_of(below, what))
            else:
                tree.add(name.encode(), _FILE_MODE, what)
        self._repo.object_store.add_object(tree)
        self._trees[path] = tree.id
        return tree.id


def is_repository(folder: Path) -> bool:
    return (folder / ".git").is_dir() and not (folder / ".git").is_symlink()


def changes_of(folder: Path) -> Iterator[Change]:
    """What was done to Markdown files, from the first commit on; of merges only what the main
    line says. Raises InvalidInput for a repository that cannot be read."""
    try:
        repo = Repo(str(folder))
    except (NotGitRepository, ValueError, OSError) as error:
        raise InvalidInput(
            f"The git repository in {folder} cannot be read.", hint="Try: git fsck"
        ) from error
    try:
        yield from _changes(repo)
    except (KeyError, AssertionError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"The git repository in {folder} is not whole.",
            hint="A shallow or partial clone lacks history: git fetch --unshallow",
        ) from error
    finally:
        repo.close()


def _changes(repo: Repo) -> Iterator[Change]:
    line: list[ObjectID] = []
    head = _head_of(repo)
    while head is not None and len(line) < _MOST_COMMITS:
        line.append(head)
        parents = repo[head].parents  # type: ignore[attr-defined]
        head = parents[0] if parents else None
    before: ObjectID | None = None
    for each in reversed(line):
        commit = repo[each]
        assert isinstance(commit, Commit)
        author, made_at, about = _author(commit), _moment(commit), _about(commit)
        for change in repo.object_store.tree_changes(before, commit.tree):
            (old_path, path), (_, mode), (_, blob_id) = change
            if path is None or blob_id is None:
                if old_path is not None and old_path.endswith(b".md"):
                    yield Change(_text(old_path), None, author, made_at, about)
                continue
            if path.endswith(b".md") and mode in {0o100644, 0o100755, 0o100664}:
                blob = repo[blob_id]
                assert isinstance(blob, Blob)
                yield Change(_text(path), blob.data, author, made_at, about)
        before = commit.tree


def _head_of(repo: Repo) -> ObjectID | None:
    try:
        return repo.head()
    except KeyError:
        return None  # no commit yet


def _message(revision: NoteRevision, path: str) -> bytes:
    about = {
        "path": path,
        "kind": revision.kind,
        "client": revision.client_id,
        "author": revision.author,
        "at": revision.made_at.astimezone(UTC).isoformat(timespec="microseconds"),
    }
    subject = f"{_WORDS.get(revision.kind, 'Change')} {path}"
    return f"{subject}\n\n{_TRAILER}{orjson.dumps(about).decode()}\n".encode()


def _about(commit: Commit) -> dict[str, Any] | None:
    last = commit.message.decode("utf-8", "replace").rstrip().rsplit("\n", 1)[-1]
    if not last.startswith(_TRAILER):
        return None
    try:
        about = orjson.loads(last.removeprefix(_TRAILER))
    except ValueError:
        return None
    return about if isinstance(about, dict) else None


def _author(commit: Commit) -> str:
    name: str = commit.author.decode("utf-8", "replace").split(" <")[0]
    return name[:200]


def _moment(commit: Commit) -> datetime:
    try:
        return datetime.fromtimestamp(commit.author_time, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def _text(path: bytes) -> str:
    return path.decode("utf-8", "replace")


def _plain(text: str) -> str:
    return _NOT_IN_NAMES.sub(" ", text).strip()
