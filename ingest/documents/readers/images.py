"""Images: what is written in them. A file of several frames, such as a fax, has a page each."""

import warnings
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO, Final

from PIL import Image, UnidentifiedImageError

from ingest.documents.pages import Limits, Page, Read, Unit, Working
from ingest.documents.problems import Refused
from ingest.documents.readers import ocr

_MOST_PIXELS: Final = 100_000_000
_SMALL: Final = 1_000  # pixels: text in smaller images is read better enlarged
_FORMATS: Final = ("PNG", "JPEG", "GIF", "TIFF", "WEBP", "BMP")


def read(file: BinaryIO, limits: Limits) -> Iterator[Read]:
    file.seek(0)
    warnings.simplefilter("ignore")  # about sizes, which are checked here
    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(file, formats=_FORMATS) as image:
            if image.width * image.height > _MOST_PIXELS:
                raise Refused("image_too_large")
            if not limits.ocr_program:
                raise Refused("ocr_missing")
            frames = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
            if frames > limits.ocr_pages:
                raise Refused("too_many_pages", f"{frames:,}")
            for number in range(frames):
                image.seek(number)
                yield Working()
                unit = Unit.IMAGE if frames == 1 else Unit.PAGE
                yield Page(unit, number + 1, ocr.text_of(_pgm(image), limits), by_ocr=True)
    except (UnidentifiedImageError, SyntaxError, ValueError, EOFError, OSError) as error:
        raise Refused("damaged", "it cannot be opened as an image.") from error


def _pgm(image: Image.Image) -> bytes:
    if image.width * image.height > _MOST_PIXELS:
        raise Refused("image_too_large")
    grey = image.convert("RGBA") if image.mode in ("P", "LA", "PA", "RGBA") else image
    if grey.mode == "RGBA":  # what is clear is paper
        paper = Image.new("RGBA", grey.size, "white")
        paper.alpha_composite(grey)
        grey = paper
    grey = grey.convert("L")
    if max(grey.size) < _SMALL:
        grey = grey.resize((grey.width * 2, grey.height * 2), Image.Resampling.LANCZOS)
    buffer = BytesIO()
    grey.save(buffer, "PPM")
    return buffer.getvalue()
