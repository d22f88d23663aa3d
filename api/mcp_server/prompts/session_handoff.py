"""session_handoff: goes on with a past conversation in another client."""

from collections.abc import Mapping

from api.mcp_server.prompt import Prompt, PromptParameter
from api.mcp_server.resources.conversation import suggest_conversations
from backread.domain import Principal, Scope
from backread.errors import NotFound
from backread.kernel import Kernel
from backread.store.repositories.browsing import ConversationFilter, list_conversations
from recall.rendering import one_line
from recall.summaries import conversation_summary


def _run(kernel: Kernel, principal: Principal, arguments: Mapping[str, str]) -> str:
    conversation_id = arguments.get("conversationId") or _latest(kernel, principal)
    summary = conversation_summary(kernel, principal, conversation_id)
    goal = one_line(arguments.get("goal", ""), 400)
    ask = f"What I want now: {goal}" if goal else "Ask me what I want to do next."
    return (
        "I want to go on here with a conversation that I had elsewhere. Read what was said, then "
        "set down in a few lines where it stands: what was decided, what is open, and what comes "
        f"next. {ask} If a detail is missing, get_full_conversation with conversationId "
        f"{summary.conversation_id} has every word.\n\n{summary.text}"
    )


def _latest(kernel: Kernel, principal: Principal) -> str:
    with kernel.store.read() as session:
        found = list_conversations(session, principal, ConversationFilter(), limit=1)
    if not found:
        raise NotFound("There are no conversations yet.", hint="Import an export first.")
    return found[0].id


PROMPT = Prompt(
    name="session_handoff",
    title="Go on with a past conversation",
    description="Takes up a past conversation here: what was decided, what is open, what is next. "
    "Without an id it is the latest one.",
    scope=Scope.CHAT_HISTORY_READ,
    parameters=(
        PromptParameter(
            "conversationId",
            "Which conversation; the latest when left out.",
            suggest=suggest_conversations,
        ),
        PromptParameter("goal", "What to do next, if that is clear already."),
    ),
    run=_run,
)
