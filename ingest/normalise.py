"""Makes text safe to store, index and show, and leaves everything else as it was written."""

import re

# BOM; lone surrogates, which UTF-8 cannot carry; NUL, which PostgreSQL refuses; and the
# private-use marks by which ChatGPT points at its citations.
_UNWANTED = re.compile("[\x00\ufeff\ud800-\udfff\ue200-\ue2ff]")
_UNWANTED_BUT_MARKS = re.compile("[\x00\ufeff\ud800-\udfff]")


def clean(text: str, *, keep_marks: bool = False) -> str:
    """Without NUL, BOM, lone surrogates and citation marks; line ends are all `\\n`.

    `keep_marks` is for a reader that has to see the marks before they go.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        return text.replace("\x00", "") if "\x00" in text else text
    return (_UNWANTED_BUT_MARKS if keep_marks else _UNWANTED).sub("", text)
