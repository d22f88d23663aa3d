"""What is said when nothing answers: where was looked, and in how much."""

from recall.query import Question
from recall.rendering import day


def not_found(question: Question, searched: int, total: int) -> str:
    """Names what was searched, so that silence is an answer."""
    scope = f"{searched} of {total} conversations"
    where = f" on {', '.join(question.platforms)}" if question.platforms else ""
    if total == 0:
        return "Nothing found: no conversations have been imported yet."
    has_window = question.is_time_strict and (question.time.after or question.time.before)
    if searched == 0:
        what = "Nothing in that window" if has_window else "Nothing there"
        return f"{what}{where} ({scope}){_window_words(question) if has_window else ''}."
    if has_window:
        return f"Not found in that window{where} ({scope} searched){_window_words(question)}."
    return f"Not found{where}: nothing in the {scope} searched answers this."


def _window_words(question: Question) -> str:
    after, before = question.time.after, question.time.before
    if after and before:
        return f", from {day(after)} to {day(before)} UTC"
    return f", from {day(after)} UTC" if after else f", up to {day(before)} UTC"
