"""Which of the sources hold conversations, and what the others are."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from backread.errors import BackreadError, LimitExceeded, UnreadableImport
from backread.settings import Settings
from ingest.companions import reader_for
from ingest.containers.archive import is_maybe
from ingest.containers.downloads import (
    listed_downloads,
    listed_in_words,
    missing_downloads,
)
from ingest.containers.looks import (
    ASSET_NAMES,
    CHATGPT_MANIFEST,
    CHOOSE,
    CLAUDE_MANIFEST,
    CODEX_TITLES,
    Shape,
    shape_of,
)
from ingest.containers.source import Source
from ingest.containers.sources import FoundSources
from ingest.cutting import cut
from ingest.importers import importer_for
from ingest.importers.base import text_in
from ingest.json_stream import load
from ingest.normalise import clean

_ELEMENTS_LOOKED_AT = 20
_NAMES_KEPT = 200_000


@dataclass(slots=True)
class Contents:
    """What an import will read, in this order, and what its report has to say already."""

    sources: list[Source] = field(default_factory=list)
    asset_names: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)  # by conversation, from lists beside them
    warnings: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(source.size for source in self.sources)


@dataclass(frozen=True, slots=True)
class _Probe:
    """What the first elements of a source tell."""

    is_wanted: bool = False  # it holds a conversation, or a companion of conversations
    shape: Shape | None = None
    value: Any = None  # the element that the shape was seen in
    problem: str = ""  # why nothing could be read, if nothing could


def examine(found: FoundSources, settings: Settings) -> Contents:
    """Sorts the sources by their structure. Raises UnreadableImport when none of them holds a
    conversation or a companion: the message says what was chosen instead, the hint what to
    choose."""
    contents = Contents(warnings=list(found.warnings))
    problems = list(found.problems)
    listed: list[str] = []
    downloads: list[str] = []
    damaged: list[tuple[Source, BackreadError]] = []
    others: list[tuple[Source, _Probe]] = []
    is_anything_wanted = False
    for source in found.sources:
        try:
            probe = _probe(source, settings)
        except (UnreadableImport, LimitExceeded) as error:
            damaged.append((source, error))
            contents.sources.append(source)
            continue
        if probe.is_wanted:
            is_anything_wanted = True
            contents.sources.append(source)
        elif probe.problem:
            told = UnreadableImport(f"{source.name}: {probe.problem}", hint=CHOOSE)
            damaged.append((source, told))
            contents.sources.append(source)
        else:
            others.append((source, probe))
            _note(probe, contents, listed, downloads)
            if probe.shape is CODEX_TITLES:
                contents.titles.update(_listed_titles(source, settings))
    if not is_anything_wanted:
        problems += [(source.name, error) for source, error in damaged]
        raise _nothing_found(problems, others)
    contents.warnings += [
        f"{name} was not imported. {error}" for name, error in problems if _is_told(name)
    ]
    contents.warnings += _missing_shards(listed, found.sources)
    contents.warnings += missing_downloads(downloads, found.sources)
    return contents


def _is_told(name: str) -> bool:
    """Whether it is worth a word that nothing could be read from a file. Notes and tables that lie
    in a folder or an archive are not; a file that was chosen by itself is, but for the page that
    comes beside the JSON of an export."""
    is_chosen_by_itself = "/" not in name and not name.lower().endswith((".html", ".htm"))
    return is_chosen_by_itself or not is_maybe(name)


def _probe(source: Source, settings: Settings) -> _Probe:
    problem = ""
    count = 0
    for element in cut(source, settings):
        count += 1
        if count > _ELEMENTS_LOOKED_AT:
            break
        try:
            value = load(element.body) if not element.problem else None
        except ValueError as error:
            problem = problem or str(error)
            continue
        if element.problem:
            problem = problem or element.problem
        elif element.is_record or importer_for(value) is not None or reader_for(value) is not None:
            return _Probe(is_wanted=True)
        else:
            shape = shape_of(value)
            if shape is not None:
                return _Probe(shape=shape, value=value)
    return _Probe(problem=problem)


def _note(probe: _Probe, contents: Contents, listed: list[str], downloads: list[str]) -> None:
    if probe.shape is ASSET_NAMES:
        for key, name in list(probe.value.items())[:_NAMES_KEPT]:
            contents.asset_names[key] = clean(name)
    elif probe.shape is CHATGPT_MANIFEST:
        listed.extend(_listed_shards(probe.value))
    elif probe.shape is CLAUDE_MANIFEST:
        downloads.extend(listed_downloads(probe.value))


def _listed_titles(source: Source, settings: Settings) -> dict[str, str]:
    """The last title that the list gives each session."""
    titles: dict[str, str] = {}
    for element in cut(source, settings):
        try:
            value = load(element.body) if not element.problem else None
        except ValueError:
            continue
        if isinstance(value, dict) and len(titles) < _NAMES_KEPT:
            title = text_in(value.get("thread_name")).strip()
            if title:
                titles[text_in(value.get("id"))] = title
    return titles


def _listed_shards(manifest: dict[str, Any]) -> Iterable[str]:
    logical = manifest.get("logical_files")
    entry = logical.get("conversations.json") if isinstance(logical, dict) else None
    files = entry.get("files") if isinstance(entry, dict) else None
    for name in files if isinstance(files, list) else []:
        if isinstance(name, str):
            yield name.rsplit("/", 1)[-1]


def _missing_shards(listed: list[str], sources: list[Source]) -> list[str]:
    """Parts of the export may be chosen together, so a shard may lie in any of them."""
    present = {source.base_name for source in sources}
    return [
        f"{clean(name)} is on the export's own list of files but was not among those chosen: "
        "its chats were not imported. Choose it as well, or download the export again."
        for name in dict.fromkeys(listed)
        if name not in present
    ]


def _nothing_found(
    problems: list[tuple[str, BackreadError]], others: list[tuple[Source, _Probe]]
) -> UnreadableImport:
    told: list[tuple[str, str]] = [(error.message, error.hint) for _, error in problems]
    # The manifest explains more than the lists that lie beside it, so it speaks first.
    ranked = sorted(others, key=lambda pair: pair[1].shape is not CLAUDE_MANIFEST)
    for source, probe in ranked:
        if probe.shape is not None:
            words = f"{source.name} looks like {probe.shape.label}."
            if probe.shape is CLAUDE_MANIFEST:
                words += listed_in_words(probe.value)
            told.append((words, probe.shape.hint))
        else:
            words = f"{source.name} is JSON, but holds no conversations of a kind that is known."
            told.append((words, CHOOSE))
    if not told:
        return UnreadableImport("No conversations were found.", hint=CHOOSE)
    if len(told) == 1:
        return UnreadableImport(told[0][0], hint=told[0][1])
    shown = " ".join(words for words, _ in told[:5])
    more = f" {len(told) - 5} further files hold none either." if len(told) > 5 else ""
    return UnreadableImport(f"No conversations were found. {shown}{more}", hint=told[0][1])
