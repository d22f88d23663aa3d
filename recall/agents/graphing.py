"""The graph of one session: files, concepts, decisions, people and tools, and how they go
together. Pure; made of the session's digest and of the texts that decisions stand in."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from backread.domain import MessageKind
from recall.agents.digesting import SessionDigest, SessionMessage
from recall.agents.statements import is_negated, replacement_in, same_statement
from recall.overview.names import PERSON, TOOL, names_in

GRAPH_VERSION = 1
NODE_TYPES = ("file", "concept", "decision", "person", "tool")
EDGE_TYPES = ("references", "depends_on", "contradicts", "supersedes", "co_occurs_with")

_MOST_CONCEPTS, _MOST_FILES, _MOST_PAIRS = 25, 150, 60
_NAME_CHARACTERS = 300
_DEPENDS = re.compile(
    r"(?P<left>[\w.@/+-]{3,60})\s+(?:depends on|relies on|requires|needs|is built on|imports|"
    r"hängt von|dépend de|depende de)\s+(?:the\s+|a\s+)?(?P<right>[\w.@/+-]{3,60})",
    re.IGNORECASE,
)
_FEWEST_SHARED = 2  # stems that two statements must share to be about the same


@dataclass(frozen=True, slots=True)
class Entity:
    type: str
    name: str


@dataclass(frozen=True, slots=True)
class Relation:
    relation: str
    source: Entity
    target: Entity


@dataclass(slots=True)
class SessionGraph:
    """With how often each occurs, and the message where it does first."""

    entities: Counter[Entity] = field(default_factory=Counter)
    relations: Counter[Relation] = field(default_factory=Counter)
    first: dict[Entity | Relation, str] = field(default_factory=dict)

    def add(self, entity: Entity, count: int, message_id: str) -> Entity:
        self.entities[entity] += count
        self.first.setdefault(entity, message_id)
        return entity

    def relate(self, relation: str, source: Entity, target: Entity, message_id: str) -> None:
        if source != target:
            edge = Relation(relation, source, target)
            self.relations[edge] += 1
            self.first.setdefault(edge, message_id)


def graph_of(found: SessionDigest, messages: Iterable[SessionMessage]) -> SessionGraph:
    """The session's graph. `messages` are those the digest was made of."""
    graph = SessionGraph()
    files = found.reads + found.writes
    for path, count in files.most_common(_MOST_FILES):
        graph.add(_entity("file", path), count, found.first.get(path, ""))
    concepts = {term.casefold(): term for term, _ in found.concepts.most_common(_MOST_CONCEPTS)}
    for term in concepts.values():
        graph.add(_entity("concept", term), found.concepts[term], found.first.get(term, ""))
    for program, count in found.commands.items():
        tool = program.split()[0]
        graph.add(_entity("tool", tool), count, found.first.get(program, ""))
    for path, module, message_id in found.imports:
        target = graph.add(_entity("concept", module), 1, message_id)
        graph.relate("depends_on", _entity("file", path), target, message_id)
    _mentions(graph, concepts, files, messages)
    _decisions(graph, found, concepts, files)
    return graph


def _mentions(
    graph: SessionGraph,
    concepts: dict[str, str],
    files: Counter[str],
    messages: Iterable[SessionMessage],
) -> None:
    """People and tools by name; concepts said together; files and concepts of one message."""
    paths = [path for path, _ in files.most_common(_MOST_FILES)]
    pairs: Counter[tuple[str, str]] = Counter()
    where: dict[tuple[str, str], str] = {}
    for message in messages:
        if message.kind != MessageKind.DIALOGUE.value or not message.text:
            continue
        for named, count in names_in(message.text[:4000]).items():
            if named.kind in (PERSON, TOOL):
                graph.add(_entity(named.kind, named.name), count, message.id)
        text = message.text[:20_000].casefold()
        said = sorted(term for key, term in concepts.items() if key in text)
        for pair in combinations(said[:12], 2):
            pairs[pair] += 1
            where.setdefault(pair, message.id)
        for path in paths:
            name = path.rpartition("/")[2].casefold()
            if len(name) > 3 and name in text:
                for term in said[:5]:
                    if term.casefold() not in name:
                        graph.relate(
                            "references",
                            _entity("concept", term),
                            _entity("file", path),
                            message.id,
                        )
    for (left, right), count in pairs.most_common(_MOST_PAIRS):
        if count > 1:
            edge = Relation("co_occurs_with", _entity("concept", left), _entity("concept", right))
            graph.relations[edge] += count
            graph.first.setdefault(edge, where[left, right])


def _decisions(
    graph: SessionGraph, found: SessionDigest, concepts: dict[str, str], files: Counter[str]
) -> None:
    """What was chosen and laid down, what it is about, what it takes the place of."""
    stated: list[tuple[Entity, str, frozenset[str], bool]] = []
    for sentence, message_id in [*found.decisions, *found.conventions]:
        decision = graph.add(_entity("decision", sentence), 1, message_id)
        text = sentence.casefold()
        for key, term in concepts.items():
            if key in text:
                graph.relate("references", decision, _entity("concept", term), message_id)
        for path in files:
            if path.rpartition("/")[2].casefold() in text:
                graph.relate("references", decision, _entity("file", path), message_id)
        replaced = replacement_in(sentence)
        if replaced is not None:
            new = graph.add(_entity("concept", replaced.new), 1, message_id)
            old = graph.add(_entity("concept", replaced.old), 1, message_id)
            graph.relate("supersedes", new, old, message_id)
        needs = _needed(sentence)
        if needs is not None:
            left, right = (graph.add(_entity("concept", each), 1, message_id) for each in needs)
            graph.relate("depends_on", left, right, message_id)
        stated.append(
            (decision, message_id, frozenset(same_statement(sentence)), is_negated(sentence))
        )
    for (left, _, mine, negated), (right, later, theirs, other) in combinations(stated, 2):
        shared = mine & theirs
        alike = len(shared) >= max(_FEWEST_SHARED, min(len(mine), len(theirs)) // 2)
        if alike and negated != other:
            graph.relate("contradicts", right, left, later)


def _needed(sentence: str) -> tuple[str, str] | None:
    found = _DEPENDS.search(sentence)
    return (found["left"], found["right"]) if found else None


def _entity(kind: str, name: str) -> Entity:
    return Entity(kind, " ".join(name.split())[:_NAME_CHARACTERS])
