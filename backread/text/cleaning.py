"""Text of chats as it may be shown to a model: every visible character, and nothing that hides,
reorders, or pretends to be something else than text. The stored text is not changed."""

import re

_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"  # zero width, bidirectional controls
    "\u3164\ufeff\uffa0\ufff0-\uffff"
    "\ud800-\udfff"  # halves of a character
    "\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags, variation selectors
    "]"
)
# Joiners shape Persian, Indic scripts and emoji; elsewhere they only hide.
_STRAY_JOINER = re.compile(
    "(?<=[\x00-\u024f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\u024f])|[\u200c\u200d]{2,}"
)
_ROLE_LINE = re.compile(
    r"^([ \t>*_#-]*(?:human|user|assistant|system|developer|tool|function|ai|model)[ \t*_]*)[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_CHAT_TOKEN = re.compile(
    r"<\|[^|>\n]{0,40}\|>|<\|"  # <|im_start|>
    r"|\[/?(?:inst|sys|system|assistant|user)\]|<</?sys>>"  # [INST], <<SYS>>
    r"|</?[ \t]*(?:s|system|user|assistant|human|tool|tools|function|functions|function_calls|"
    r"function_results|tool_call|tool_calls|tool_use|tool_result|tool_response|invoke|parameter|"
    r"instructions?|prompt|message|context|memory|recall|start_of_turn|end_of_turn|"
    r"antml:[a-z_]+)\b[^<>\n]{0,200}>",
    re.IGNORECASE,
)
_MARKER = re.compile(
    r"(?:(?<!<)<{2,}|(?<!>)>{2,}|(?<!=)={3,}|(?<!-)-{3,})[ \t]*"
    r"(?=(?:end[ \t]+)?(?:of[ \t]+)?recall)",
    re.IGNORECASE,
)
# Holds nothing of the above: most texts, and all ids.
_PLAIN = re.compile(r"(?:[\t\n !-,./0-9;?@A-Z\\\]^_`a-z{|}~]|-(?!--))*+")
_SOFTENED = str.maketrans({"<": "‹", ">": "›", "[": "⟦", "]": "⟧", "=": "–", "-": "–"})


def without_hidden(text: str) -> str:
    """Every visible character as it was; those that hide or reorder text are gone."""
    text = _HIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _STRAY_JOINER.sub("", text)


def clean(text: str) -> str:
    """Text as it may be shown to a model. Idempotent."""
    if _PLAIN.fullmatch(text):
        return text
    text = without_hidden(text)
    text = _CHAT_TOKEN.sub(lambda match: match.group().translate(_SOFTENED), text)
    text = _MARKER.sub(lambda match: match.group().translate(_SOFTENED), text)
    return _ROLE_LINE.sub(r"\1∶", text)
