"""recall_context: what is known about a topic, before the conversation goes on."""

from collections.abc import Mapping, Sequence

from api.mcp_server.prompt import Prompt, PromptParameter
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.store.repositories.browsing import ConversationFilter, list_conversations
from recall.history import RecallRequest, recall_chat_history
from recall.memories import search_memories
from recall.rendering import one_line

_TOKENS = 1500
_MEMORIES = 10
_SUGGESTED = 30
_TITLE_CHARACTERS = 80


def _run(kernel: Kernel, principal: Principal, arguments: Mapping[str, str]) -> str:
    topic = arguments["topic"]
    recalled = recall_chat_history(
        kernel, principal, RecallRequest(query=topic, max_tokens=_TOKENS)
    )
    parts = [
        f"I want to go on with this topic: {one_line(topic, 400)}\n\nHere is what my past "
        "conversations say about it. Use it as background, cite it where you rely on it, and say "
        "so where it is silent. Then ask what I need, unless that is clear already.",
        recalled.text,
    ]
    if Scope.MEMORY_READ in principal.scopes:
        memories = search_memories(kernel, principal, topic, limit=_MEMORIES)
        if memories.memories:
            parts.append(f"And these are memories that I saved:\n\n{memories.text}")
    return "\n\n".join(parts)


def _titles(kernel: Kernel, principal: Principal, typed: str) -> Sequence[str]:
    """Titles of recent conversations that hold the typed text."""
    wanted = ConversationFilter(title=typed.strip())
    with kernel.store.read() as session:
        found = list_conversations(session, principal, wanted, limit=_SUGGESTED)
    titles = [one_line(each.title, _TITLE_CHARACTERS) for each in found if each.title.strip()]
    return list(dict.fromkeys(titles))


PROMPT = Prompt(
    name="recall_context",
    title="Recall what is known about a topic",
    description="Starts with what past conversations and saved memories say about a topic, with "
    "sources.",
    scope=Scope.CHAT_HISTORY_READ,
    parameters=(
        PromptParameter(
            "topic", "A project, person, decision or question.", is_required=True, suggest=_titles
        ),
    ),
    run=_run,
)
