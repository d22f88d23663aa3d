"""store_memory: keeps a statement for every AI tool that the person uses."""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.mcp_server.tools.arguments import BucketNumber, Id
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.memories import Source, StoredMemory, store_memory


class StoreArguments(Arguments):
    text: str = Field(description="The memory text to store: one self-contained statement.")
    bucket_id: BucketNumber = Field(
        None,
        description="Bucket to store the memory in, an id from list_buckets. Defaults to the "
        "user's general bucket.",
    )
    supersedes: Id | None = Field(
        None,
        description="When a fact has changed: id of the memory that this one takes the place of. "
        "Both stay, with their dates. A memory that was always wrong is edited instead.",
    )
    conversation_id: Id | None = Field(
        None,
        description="conversationId of the past conversation in which it was said, if it comes "
        "from one, so that the memory leads back there.",
    )
    message_id: Id | None = Field(
        None, description="Id of the message in that conversation, if known."
    )


def _run(kernel: Kernel, principal: Principal, arguments: StoreArguments) -> Answer:
    result = store_memory(
        kernel,
        principal,
        arguments.text,
        bucket_id=arguments.bucket_id,
        supersedes=arguments.supersedes or "",
        source=Source(arguments.conversation_id or "", arguments.message_id or ""),
    )
    return Answer(result.text, result)


TOOL = Tool(
    name="store_memory",
    title="Store a memory",
    description=(
        "Save something lasting to the user's memory, which all their AI tools share. Call it "
        "whenever something worth remembering comes up: a preference, a decision, project "
        "details, personal context. Err on the side of saving; ask which bucket when it is "
        "unclear. Write one fact per memory, understandable without this conversation, in the "
        "user's language, with absolute dates. What is stored already is not stored twice. Do not "
        "store what you have only recalled from past conversations, secrets, or guesses."
    ),
    scope=Scope.MEMORY_WRITE,
    arguments=StoreArguments,
    result=StoredMemory,
    run=_run,
    is_read_only=False,
)
