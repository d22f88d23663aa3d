"""search: past conversations as a list of documents, in the form that ChatGPT asks for.

https://platform.openai.com/docs/mcp: one text of JSON with `results`, each with `id`, `title` and
`url`; `fetch` then takes the id. Further fields are allowed, and the same is structured content.
"""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.rendering import FIELDS_NOTICE, day, one_line
from recall.search import SearchHit, SearchQuery, search
from recall.wire import ResultModel

_HITS = 30
_DOCUMENTS = 10
_SNIPPET_CHARACTERS = 300


class SearchArguments(Arguments):
    query: str = Field(
        min_length=1,
        max_length=2000,
        description="What to look for in past conversations, in the user's own words.",
    )


class FoundDocument(ResultModel):
    id: str
    title: str
    url: str
    text: str = Field(description="The passage that was found.")


class FoundDocuments(ResultModel):
    results: list[FoundDocument]
    notice: str = FIELDS_NOTICE


def _run(kernel: Kernel, principal: Principal, arguments: SearchArguments) -> Answer:
    found = search(kernel, principal, SearchQuery(text=arguments.query, limit=_HITS))
    best: dict[str, SearchHit] = {}
    for hit in found.hits:
        best.setdefault(hit.conversation_id, hit)
    result = FoundDocuments(results=[_document(hit) for hit in list(best.values())[:_DOCUMENTS]])
    return Answer(result.model_dump_json(by_alias=True), result)


def _document(hit: SearchHit) -> FoundDocument:
    return FoundDocument(
        id=hit.conversation_id,
        title=f"{hit.title or 'Untitled'} ({hit.platform}, {day(hit.occurred_at)})",
        url=hit.reader_url,
        text=one_line(
            f"{hit.document}: {hit.text}" if hit.document else hit.text, _SNIPPET_CHARACTERS
        ),
    )


TOOL = Tool(
    name="search",
    title="Search past conversations",
    description=(
        "Search the user's past conversations and get a list of those that match, each with an id "
        "for fetch. For clients that know search and fetch only; where recall_chat_history can be "
        "called it gives a cited answer at once."
    ),
    scope=Scope.CHAT_HISTORY_READ,
    arguments=SearchArguments,
    result=FoundDocuments,
    run=_run,
    is_offered=lambda settings: settings.chatgpt_tools,
)
