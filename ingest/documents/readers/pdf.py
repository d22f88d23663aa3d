"""PDF, by PDFium. A page that is only a picture of text is read by tesseract."""

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from pypdfium2 import PdfDocument, PdfiumError
from pypdfium2 import raw as pdfium

from ingest.documents.pages import Limits, Page, Read, Remark, Unit, Working
from ingest.documents.problems import Refused
from ingest.documents.readers import ocr
from ingest.documents.readers.plain import tidy

_FEW_CHARS: Final = 12  # a page number or a stamp over a scanned page
_DPI: Final = 200
_MOST_PIXELS: Final = 40_000_000


def read(file: BinaryIO, limits: Limits) -> Iterator[Read]:
    file.seek(0)
    document = _opened(file)
    count = len(document)
    if count > limits.pages:
        raise Refused("too_many_pages", f"{count:,}")
    pictures = seen = unread = 0
    for index in range(count):
        text, is_picture = _page_text(document, index)
        if is_picture:
            pictures += 1
            if limits.ocr_program and pictures <= limits.ocr_pages:
                yield Working()
                text = _by_sight(document, index, limits) or text
            else:
                unread += 1
        seen += bool(text)
        yield Page(Unit.PAGE, index + 1, text, by_ocr=is_picture and bool(text))
    if unread:
        if not seen:
            raise Refused("ocr_missing" if not limits.ocr_program else "no_text")
        why = (
            "tesseract is not installed"
            if not limits.ocr_program
            else f"of pictures, {limits.ocr_pages:,} a file are read"
        )
        yield Remark(f"{unread:,} of its pages are pictures of text and were not read: {why}.")


def _opened(file: BinaryIO) -> PdfDocument:
    try:
        return PdfDocument(file)
    except PdfiumError as error:
        code = getattr(error, "err_code", None)
        is_locked = code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        if is_locked or "password" in str(error).lower():
            raise Refused("encrypted") from error
        raise Refused("damaged", "it cannot be opened as a PDF.") from error


def _page_text(document: PdfDocument, index: int) -> tuple[str, bool]:
    """The page's own text, and whether the page is a picture rather than text."""
    try:
        page = document[index]
    except PdfiumError:
        return "", False  # the other pages may be whole
    try:
        textpage = page.get_textpage()
        text = tidy(_unhyphenated(textpage.get_text_bounded()))
        textpage.close()
        return text, len(text) < _FEW_CHARS and _has_image(page)
    except PdfiumError:
        return "", False
    finally:
        page.close()


def _has_image(page: Any) -> bool:
    found = page.get_objects(filter=(pdfium.FPDF_PAGEOBJ_IMAGE,), max_depth=3)
    return next(iter(found), None) is not None


def _unhyphenated(text: str) -> str:
    """PDFium marks a hyphen that only breaks a word at the line's end."""
    text = text.replace("\r\n", "\n")
    for mark in ("\ufffe", "\x02"):
        text = text.replace(f"{mark}\n", "").replace(mark, "")
    return text


def _by_sight(document: PdfDocument, index: int, limits: Limits) -> str:
    page = document[index]
    width, height = page.get_size()
    scale = _DPI / 72
    pixels = width * height * scale * scale
    if pixels > _MOST_PIXELS:
        scale *= (_MOST_PIXELS / pixels) ** 0.5
    bitmap = page.render(scale=scale, grayscale=True)
    page.close()
    rows = bytes(bitmap.buffer)
    stride = bitmap.stride
    lines = (rows[row * stride : row * stride + bitmap.width] for row in range(bitmap.height))
    picture = b"P5 %d %d 255\n" % (bitmap.width, bitmap.height) + b"".join(lines)
    bitmap.close()
    return ocr.text_of(picture, limits)
