"""Why a document cannot be read, each with a name and in words that say what to do."""

from typing import Final

# Code -> what happened, and what to do about it. `{…}` is filled in from what the reader knows.
PROBLEMS: Final[dict[str, tuple[str, str]]] = {
    "empty": ("The file is empty.", "Choose the file again; it may have been cut off on its way."),
    "unknown_kind": (
        "The file is of a kind that cannot be read.",
        "PDF, Word (docx), PowerPoint (pptx), Excel (xlsx), CSV, HTML, Markdown, plain text, EPUB "
        "and images are read. Save it as one of these.",
    ),
    "old_office": (
        "The file is of the old Office format, from before 2007.",
        "Open it in an office program, save it as docx, pptx or xlsx, and upload that.",
    ),
    "encrypted": (
        "The file is encrypted with a password.",
        "Save it without the password and upload that.",
    ),
    "damaged": (
        "The file is damaged: {detail}",
        "Open it in the program that made it and save it again.",
    ),
    "entities": (
        "The file declares XML entities of its own, as files made to do harm do. It was not read.",
        "Open it in an office program and save it again.",
    ),
    "unpacks_too_large": (
        "The file unpacks to more than is allowed, as a file made to fill the memory does.",
        "Split it, or raise BACKREAD_FILE_MAX_INFLATED_BYTES.",
    ),
    "overlapping": (
        "The parts of the file lie over each other, as in a file made to do harm.",
        "Open it in the program that made it and save it again.",
    ),
    "too_many_parts": (
        "The file consists of more parts than any real document has.",
        "Open it in the program that made it and save it again.",
    ),
    "too_many_pages": (
        "The file has {detail} pages, more than are allowed.",
        "Split it, or raise BACKREAD_FILE_MAX_PAGES.",
    ),
    "too_much_text": (
        "The file holds more text than is allowed.",
        "Split it, or raise BACKREAD_FILE_MAX_CHARACTERS.",
    ),
    "image_too_large": (
        "The image has more pixels than can be read.",
        "Make it smaller, to about 10,000 pixels a side at most.",
    ),
    "no_text": ("The file holds no text.", "There is nothing in it that could be found."),
    "ocr_missing": (
        "The file holds pictures of text, and tesseract, which reads them, is not installed.",
        "Install it on the server (Debian, Ubuntu: apt install tesseract-ocr), then try again.",
    ),
    "ocr_language": (
        "Tesseract lacks the language data for {detail}.",
        "Install it (Debian, Ubuntu: apt install tesseract-ocr-deu for German, say), or change "
        "BACKREAD_FILE_OCR_LANGUAGES. Then try again.",
    ),
    "too_long": (
        "Reading the file took longer than is allowed and was stopped.",
        "Split it, or raise BACKREAD_FILE_READ_SECONDS.",
    ),
    "too_much_memory": (
        "Reading the file needed more memory than is allowed and was stopped.",
        "Split it, or raise BACKREAD_FILE_READ_MEMORY_BYTES.",
    ),
    "crashed": (
        "The program that reads such files broke down over it.",
        "Open it in the program that made it and save it again.",
    ),
}


class Refused(Exception):
    """A reader's answer to a document that it cannot or must not read. `code` is a key of
    `PROBLEMS`."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail


def in_words(code: str, detail: str = "") -> tuple[str, str]:
    """What happened, and what to do about it."""
    message, hint = PROBLEMS[code if code in PROBLEMS else "crashed"]
    return message.replace("{detail}", detail), hint
