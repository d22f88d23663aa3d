"""The prompts in the order that `prompts/list` gives them. One module each; to add one, write its
module and name it here."""

from api.mcp_server.prompt import Prompt
from api.mcp_server.prompts import recall_context, session_handoff, weekly_review

PROMPTS: tuple[Prompt, ...] = (
    recall_context.PROMPT,
    session_handoff.PROMPT,
    weekly_review.PROMPT,
)
