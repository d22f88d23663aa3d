"""search_uploaded_files: what stands in the person's documents."""

from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from api.mcp_server.tool import Answer, Arguments, Tool
from api.mcp_server.tools.arguments import whole_number
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.tokens import characters_within
from recall.files.results import FileSearchResult, FoundFilePassage
from recall.files.search import DEFAULT_RESULTS, MAX_RESULTS, search_files

_ALL_TOKENS = 15_000
_NO_NUMBER = "a file bucket id is a whole number; leave it out to search all files"
_FileBucketNumber = Annotated[
    int | None,
    BeforeValidator(partial(whole_number, problem=_NO_NUMBER)),
    WithJsonSchema({"type": "number"}),
]


class FilesArguments(Arguments):
    query: str = Field(description="Search query, in the user's own words and language.")
    bucket_id: _FileBucketNumber = Field(
        None,
        description="Limit the search to one file bucket. File buckets are not the buckets of "
        "list_buckets; their ids stand in the results.",
    )
    top_k: int = Field(
        DEFAULT_RESULTS,
        ge=1,
        le=MAX_RESULTS,
        description=f"Passages to return. Default {DEFAULT_RESULTS}, max {MAX_RESULTS}.",
        json_schema_extra={"type": "number"},
    )


def _run(kernel: Kernel, principal: Principal, arguments: FilesArguments) -> Answer:
    result = search_files(
        kernel,
        principal,
        arguments.query,
        bucket_id=arguments.bucket_id,
        top_k=arguments.top_k,
    )
    share = _ALL_TOKENS // max(1, len(result.passages))
    shown = [_cut(passage, share) for passage in result.passages]
    result = result.model_copy(update={"passages": shown})
    return Answer(result.text, result)


def _cut(passage: FoundFilePassage, share: int) -> FoundFilePassage:
    kept = characters_within(passage.text, share)
    if kept == len(passage.text):
        return passage
    return passage.model_copy(update={"text": passage.text[:kept] + "… [cut]"})


TOOL = Tool(
    name="search_uploaded_files",
    title="Search uploaded files",
    description=(
        "Search the user's uploaded documents (PDF, Word, slides, tables, text, scans) by meaning "
        "and by words. Returns the passages that fit, each with its file and page numbers and a "
        "link to it; says so when there are none. Call it when the user mentions their documents "
        "in Backread or “my files” and no file is attached to this conversation. Name file and "
        "page when you use a passage."
    ),
    scope=Scope.MEMORY_READ,
    arguments=FilesArguments,
    result=FileSearchResult,
    run=_run,
)
