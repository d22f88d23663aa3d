"""Pictures of text, by the program tesseract where it is installed."""

import subprocess
import tempfile
from pathlib import Path
from typing import Final

from ingest.documents.pages import Limits
from ingest.documents.problems import Refused
from ingest.documents.readers.plain import tidy

_MISSING_DATA: Final = b"Failed loading language"


def text_of(picture: bytes, limits: Limits) -> str:
    """The text in a picture that is PGM. Raises Refused without tesseract or its language data;
    a picture that tesseract gives up on has no text."""
    if not limits.ocr_program:
        raise Refused("ocr_missing")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.pgm")
        path.write_bytes(picture)
        try:
            done = subprocess.run(
                [limits.ocr_program, str(path), "stdout", "-l", limits.ocr_languages, "--psm", "3"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=limits.seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return ""
    if _MISSING_DATA in done.stderr:
        raise Refused("ocr_language", limits.ocr_languages)
    return tidy(done.stdout.decode("utf-8", "replace"))
