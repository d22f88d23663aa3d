"""Reads what was chosen, once and in order, and cuts it into batches that are ready to be stored.

Memory stays at one batch, and where a batch begins depends on the files alone: after a batch that
was stored, another reader goes on at the next conversation.
"""

import gc
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from backread.domain import Platform
from backread.errors import LimitExceeded, UnreadableImport
from backread.log import get_logger
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.repositories.imports import ItemRow
from ingest.candidates import MISREAD, MISREAD_IN_WORDS, Candidate, prepare
from ingest.companions import reader_for
from ingest.companions.storing import CompanionCandidate
from ingest.containers.probe import Contents, examine
from ingest.containers.source import Source, checked
from ingest.containers.sources import SourceFile, find_sources
from ingest.cutting import cut
from ingest.importers import IMPORTERS, importer_for
from ingest.importers.base import Importer, platform_of
from ingest.importers.chatgpt import with_asset_names
from ingest.importers.cursor import with_chat_id
from ingest.importers.envelopes import TITLE_KEY, with_key
from ingest.json_stream import Element, load
from ingest.normalise import clean
from ingest.rows import fit_id

_log = get_logger(__name__)

# Large enough that the full text is written in few pieces, small enough to be held in memory.
BATCH_BYTES = 8 * 1024**2
BATCH_CONVERSATIONS = 400
_PORTION_BYTES = 1024**2  # prepared at a time, because parsed JSON is many times as large
_NEW_OBJECTS_PER_COLLECTION = 50_000


class Place(NamedTuple):
    """Where a batch begins: which source, which element of it."""

    source: int = 0
    element: int = 0


_BEGINNING = Place()


@dataclass(frozen=True, slots=True)
class Overview:
    """What an import is going to read: its size in bytes, and what is to be said of it."""

    size: int
    warnings: list[str]


@dataclass(slots=True)
class Batch:
    """Conversations in a row, each a different one and prepared, and what could not be read
    between them."""

    candidates: list[Candidate] = field(default_factory=list)
    failures: list[ItemRow] = field(default_factory=list)
    companions: list[CompanionCandidate] = field(default_factory=list)
    records: list[bytes] = field(default_factory=list)  # of an archive: memories and the like
    size: int = 0  # bytes of JSON
    next: Place = _BEGINNING  # where the batch after it begins
    bytes_done: int = 0  # of the overview's size, up to its end

    @property
    def is_full(self) -> bool:
        count = len(self.candidates) + len(self.failures)
        count += len(self.companions) + len(self.records)
        return self.size >= BATCH_BYTES or count >= BATCH_CONVERSATIONS


def read_batches(
    store: Store,
    settings: Settings,
    account_id: str,
    files: Sequence[SourceFile],
    start: Place,
    check: Callable[[], None] = lambda: None,
) -> Generator[Overview | Batch, None, None]:
    """The overview, then the batches from `start` on; the last one ends behind the last source.

    `check` is called often and may raise, to end the reading. Raises UnreadableImport when
    nothing can be read at all, and LimitExceeded, after a batch of what was read before, when a
    file turns out to hold more than is allowed.
    """
    with ExitStack() as stack:
        found = find_sources(files, settings, stack, check)
        found.sources = [checked(source, check) for source in found.sources]
        contents = examine(found, settings)
        yield Overview(contents.size, [clean(warning) for warning in contents.warnings])
        yield from _Reader(store, settings, account_id, contents, check).batches(start)


class _Reader:
    def __init__(
        self,
        store: Store,
        settings: Settings,
        account_id: str,
        contents: Contents,
        check: Callable[[], None],
    ) -> None:
        self._store = store
        self._settings = settings
        self._account_id = account_id
        self._contents = contents
        self._check = check
        self._batch = Batch()
        self._keys: set[tuple[str, str]] = set()  # of the batch's conversations
        self._unprepared: list[Candidate] = []
        self._unprepared_bytes = 0

    def batches(self, start: Place) -> Iterator[Batch]:
        bytes_before = 0
        for number, source in enumerate(self._contents.sources):
            if number >= start.source:
                first = start.element if number == start.source else 0
                self._reach(Place(number, first), bytes_before)
                yield from self._read(source, Place(number, first), bytes_before)
            bytes_before += source.size
            self._reach(Place(number + 1), bytes_before)
        yield self._finished()

    def _reach(self, place: Place, bytes_done: int) -> None:
        self._batch.next, self._batch.bytes_done = place, bytes_done

    def _read(self, source: Source, start: Place, bytes_before: int) -> Iterator[Batch]:
        try:
            for element in cut(source, self._settings):
                self._check()
                if element.index < start.element:
                    continue
                candidate = self._tried(element, source)
                if candidate is not None:
                    if candidate.key in self._keys:
                        yield self._finished()
                    self._add(candidate)
                place = Place(start.source, element.index + 1)
                self._reach(place, bytes_before + element.end_offset)
                if self._batch.is_full:
                    yield self._finished()
        except UnreadableImport as error:
            self._failed(source.name, "The rest of the file was not read. " + str(error))
        except LimitExceeded:
            yield self._finished()
            raise

    def _tried(self, element: Element, source: Source) -> Candidate | None:
        """As `_candidate`; one whose importer meets something unforeseen costs only itself."""
        try:
            return self._candidate(element, source)
        except MISREAD as error:
            _log.warning("conversation_not_told", error=type(error).__name__, exc_info=True)
            self._failed(f"{source.name}, no. {element.index + 1}", MISREAD_IN_WORDS)
            return None

    def _candidate(self, element: Element, source: Source) -> Candidate | None:
        """The conversation of an element, or None after its failure, or the companion that it
        is, was noted."""
        where = f"{source.name}, no. {element.index + 1}"
        if element.problem:
            self._failed(where, element.problem)
            return None
        if element.is_record:
            self._batch.records.append(element.body)
            self._batch.size += len(element.body)
            return None
        try:
            raw = load(element.body)
        except ValueError as error:
            self._failed(where, str(error))
            return None
        importer = _importer_of(element, raw)
        body = element.body
        if importer is not None and importer.slug == Platform.CURSOR and not element.importer:
            body = with_chat_id(raw, body, source.base_name)
        external_id = fit_id(importer.identify(raw)) if importer else ""
        if importer is None and self._is_companion(element, raw, where):
            return None
        if importer is None or not external_id:
            self._failed(where, "It does not have the structure of a conversation.")
            return None
        platform = platform_of(importer, raw)
        if element.importer:  # its raw bytes are those that were captured once, and stay so
            kept = Candidate(importer, platform, external_id, body, clean(where), raw)
            kept.captured_at = element.captured_at
            return kept
        if self._contents.asset_names and importer.slug == Platform.CHATGPT:
            body = with_asset_names(raw, body, self._contents.asset_names)
        title = self._contents.titles.get(external_id) if importer.slug == Platform.CODEX else None
        if title:
            raw[TITLE_KEY] = title
            body = with_key(body, TITLE_KEY, title)
        return Candidate(importer, platform, external_id, body, clean(where), raw)

    def _is_companion(self, element: Element, raw: Any, where: str) -> bool:
        reader = reader_for(raw)
        if reader is None:
            return False
        external_id = fit_id(reader.identify(raw))
        self._batch.companions.append(
            CompanionCandidate(
                reader.slug, external_id, element.body, clean(where), element.captured_at
            )
        )
        self._batch.size += len(element.body)
        return True

    def _add(self, candidate: Candidate) -> None:
        self._keys.add(candidate.key)
        self._batch.candidates.append(candidate)
        self._batch.size += candidate.raw_bytes
        self._unprepared.append(candidate)
        self._unprepared_bytes += candidate.raw_bytes
        if self._unprepared_bytes >= _PORTION_BYTES:
            self._prepare()

    def _prepare(self) -> None:
        if self._unprepared:
            prepare(self._store, self._account_id, self._unprepared)
        self._unprepared, self._unprepared_bytes = [], 0

    def _failed(self, where: str, reason: str) -> None:
        self._batch.failures.append(
            {
                "outcome": "failed",
                "platform": "",
                "external_id": "",
                "title": "",
                # Both may quote the file: its name, or what stands where a chat should.
                "source": clean(where),
                "reason": clean(reason),
                "conversation_id": None,
            }
        )

    def _finished(self) -> Batch:
        """The batch as it is; the next one begins where it ends."""
        self._prepare()
        batch = self._batch
        self._batch = Batch(next=batch.next, bytes_done=batch.bytes_done)
        self._keys.clear()
        return batch


def _importer_of(element: Element, raw: Any) -> Importer | None:
    """The one that its archive says has read it, if it still does; else whose structure it has."""
    named = IMPORTERS.get(element.importer)
    return named if named is not None and named.recognises(raw) else importer_for(raw)


@contextmanager
def few_collections() -> Iterator[None]:
    """Python looks for circles of garbage after every 700 new objects, and reading JSON makes
    thousands of them that are in no circle: an eighth of an import's time went into it."""
    usual = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS_PER_COLLECTION, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
