"""Holds what is handed out to the budget, counted as a tokenizer counts it.

Statements are chosen by an estimate, which is quick and may be short by a third where text is full
of signs. What was chosen last goes first.
"""

from datetime import tzinfo

from backread.llm.counting import count_tokens
from backread.tokens import estimate_tokens
from recall.citations import render
from recall.synthesis import Synthesis

_SAFE = 0.6  # of the budget by estimate: text full of signs has half as many tokens more


def fitted(synthesis: Synthesis, budget: int, zone: tzinfo) -> Synthesis:
    """The synthesis without what does not fit; one statement always stays."""
    statements = list(synthesis.statements)
    while len(statements) > 1:
        conversations = dict.fromkeys(
            passage.conversation_id
            for each in statements
            for passage in (each.passage, *each.others)
        )
        numbers = {name: number for number, name in enumerate(conversations, start=1)}
        text = render(statements, numbers, zone)
        if estimate_tokens(text) <= _SAFE * budget or count_tokens(text) <= budget:
            break
        statements.remove(min(statements, key=lambda each: (each.value, -each.order)))
    if len(statements) == len(synthesis.statements):
        return synthesis
    return Synthesis(statements, synthesis.left)
