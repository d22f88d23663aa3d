"""search(): what a person's search box finds, as a list of passages."""

from datetime import datetime

from pydantic import Field

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.repositories.retrieval import FoundPassage, count_conversations
from recall.evidence import related
from recall.links import reader_link
from recall.query import understand
from recall.rendering import one_line
from recall.retrieval import Mode, passage_filter, retrieve
from recall.wire import ResultModel, WireModel

MAX_RESULTS = 100

_EXCERPT_CHARACTERS = 600


class SearchQuery(WireModel):
    """What a person types into the search box, with its filters.

    Quoted phrases must occur exactly, `-word` must not. Bounds are ISO 8601 and inclusive.
    """

    text: str = Field(min_length=1, max_length=2000)
    after: str | None = None
    before: str | None = None
    platform: str | None = None
    limit: int = Field(default=20, ge=1, le=MAX_RESULTS)
    mode: Mode = "speed"
    asked_at: datetime | None = None


class SearchHit(ResultModel):
    """A passage that was found, and where to read it."""

    conversation_id: str
    message_id: str
    title: str
    platform: str
    role: str
    occurred_at: datetime | None
    text: str
    document: str = Field(default="", description="The artifact or attachment that says it.")
    score: float
    reader_url: str
    original_url: str


class SearchResult(ResultModel):
    """Hits, best first, and what was searched."""

    query: str
    hits: list[SearchHit]
    after: datetime | None
    before: datetime | None
    conversations_searched: int
    conversations_total: int

    @property
    def text(self) -> str:
        """For a terminal or a log: one block a hit."""
        if not self.hits:
            return (
                f"Nothing found ({self.conversations_searched} of {self.conversations_total} "
                "conversations searched)."
            )
        lines = []
        for number, hit in enumerate(self.hits, start=1):
            date = hit.occurred_at.strftime("%Y-%m-%d") if hit.occurred_at else "no date"
            title = f"{hit.title} · {hit.document}" if hit.document else hit.title
            lines.append(f"{number}. {title} · {hit.platform} · {date}\n   {hit.reader_url}")
            lines.append("   " + hit.text.replace("\n", "\n   "))
        return "\n".join(lines)


def search(kernel: Kernel, principal: Principal, query: SearchQuery) -> SearchResult:
    """What has a word of the query or is near to it in meaning; nothing when nothing is.

    Raises InvalidInput for bounds that cannot be read and Unavailable if the index is away.
    """
    question = understand(
        query.text,
        asked_at=query.asked_at or utcnow(),
        zone=principal.timezone,
        after=query.after,
        before=query.before,
        platform=query.platform,
        operators=True,
    )
    found = related(retrieve(kernel, principal, [question], limit=query.limit, mode=query.mode)[0])
    with kernel.store.read() as session:
        searched, total = count_conversations(session, passage_filter(principal, question))
    return SearchResult(
        query=query.text,
        hits=[
            _hit(kernel.settings.origin, passage, score)
            for passage, score in zip(found.passages, found.scores, strict=True)
        ],
        after=question.time.after,
        before=question.time.before,
        conversations_searched=searched,
        conversations_total=total,
    )


def _hit(origin: str, passage: FoundPassage, score: float) -> SearchHit:
    text = passage.text
    if len(text) > _EXCERPT_CHARACTERS:
        text = text[:_EXCERPT_CHARACTERS].rsplit(" ", 1)[0] + " …"
    return SearchHit(
        conversation_id=passage.conversation_id,
        message_id=passage.message_id,
        title=passage.title,
        platform=passage.platform,
        role=passage.role,
        occurred_at=passage.occurred_at,
        text=text,
        document=one_line(passage.document),
        score=round(score, 4),
        reader_url=reader_link(origin, passage.conversation_id, passage.message_id),
        original_url=passage.url,
    )
