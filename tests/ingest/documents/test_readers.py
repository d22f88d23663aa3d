"""Each kind of document, read in a process of its own as a worker does it."""

from collections.abc import Sequence

import pytest

from ingest.documents.pages import Page, Unit
from tests.ingest.documents.makers import (
    docx,
    epub,
    paragraph,
    pdf,
    picture,
    pptx,
    slide,
    xlsx,
)
from tests.ingest.documents.reading_process import read, refusal


def texts(pages: Sequence[Page]) -> list[str]:
    return [page.text for page in pages]


def test_a_pdf_gives_a_page_for_each_page() -> None:
    kind, pages, remarks = read(pdf(["Clay\nand water", "", "Glaze (blue)"]))
    assert (kind, remarks) == ("pdf", [])
    assert [(page.unit, page.number) for page in pages] == [(Unit.PAGE, n) for n in (1, 2, 3)]
    assert texts(pages) == ["Clay\nand water", "", "Glaze (blue)"]


def test_a_word_document_gives_headings_lists_and_tables_in_their_order() -> None:
    cells = f"<w:tc>{paragraph('Tea')}</w:tc><w:tc>{paragraph('3')}</w:tc>"
    item = "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>Cups</w:t></w:r></w:p>"
    deleted = "<w:p><w:del><w:r><w:delText>old words</w:delText></w:r></w:del></w:p>"
    body = (
        paragraph("Stock", style="berschrift1")
        + paragraph("What we have.")
        + paragraph("Dry goods", style="berschrift2")
        + item
        + deleted
        + f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"
    )
    kind, (page,), _ = read(docx(body))
    assert kind == "docx"
    assert page.unit is Unit.SECTION
    order = [
        page.text.index(part) for part in ("Stock", "What we", "Dry goods", "- Cups", "Tea | 3")
    ]
    assert order == sorted(order)
    assert "old words" not in page.text
    assert [label for _, label in page.marks] == ["Stock", "Stock › Dry goods"]


def test_a_word_document_has_the_pages_that_word_noted_and_no_break_counts_twice() -> None:
    hard, soft = '<w:br w:type="page"/>', "<w:lastRenderedPageBreak/>"
    body = (
        paragraph("First.")
        + paragraph("", before=hard)
        + paragraph("Second.", before=soft)
        + paragraph("Third.", before=soft)
    )
    _, pages, _ = read(docx(body))
    assert [(page.unit, page.text) for page in pages] == [
        (Unit.PAGE, "First."),
        (Unit.PAGE, "Second."),
        (Unit.PAGE, "Third."),
    ]


def test_what_is_embedded_in_a_document_is_not_read_and_that_is_said() -> None:
    inner = docx(paragraph("hidden"))
    _, pages, remarks = read(
        docx(paragraph("shown"), further={"word/embeddings/oleObject1.bin": inner})
    )
    assert texts(pages) == ["shown"]
    assert remarks == ["1 files that are embedded in it were not read."]


def test_slides_come_in_the_order_of_the_talk_with_their_notes() -> None:
    body = pptx([slide("Last", "thanks"), slide("First", "hello")], order=[2, 1], notes="Bow.")
    kind, pages, _ = read(body)
    assert kind == "pptx"
    assert [(page.unit, page.number, page.label) for page in pages] == [
        (Unit.SLIDE, 1, "First"),
        (Unit.SLIDE, 2, "Last"),
    ]
    assert pages[1].text == "Last\n\nthanks\n\nNotes: Bow."


def test_a_workbook_gives_its_sheets_with_the_header_on_each_part() -> None:
    rows: list[list[str | float]] = [["Day", "Kilns"]]
    rows += [[f"Day {n}", n] for n in range(1, 151)]
    kind, pages, _ = read(xlsx({"Firings": rows, "Notes": [["only a word"]]}))
    assert kind == "xlsx"
    assert [(page.unit, page.label) for page in pages] == [
        (Unit.SHEET, "Firings"),
        (Unit.SHEET, "Firings"),
        (Unit.SHEET, "Notes"),
    ]
    assert [page.text.split("\n")[0] for page in pages] == [
        "Day | Kilns",
        "Day | Kilns",
        "only a word",
    ]
    assert pages[1].table is not None
    assert (pages[1].table.first_row, pages[1].table.columns) == (102, ("A", "B"))
    assert pages[1].text.split("\n")[1] == "Day 101 | 101"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_in_text_is_one_whatever_stands_between_its_cells(delimiter: str) -> None:
    lines = [("Plant", "Water"), ("Fern", "3 days"), ("Cactus", "30 days")]
    kind, (page,), _ = read("\n".join(delimiter.join(line) for line in lines).encode())
    assert kind == "csv"
    assert page.text == "Plant | Water\nFern | 3 days\nCactus | 30 days"


def test_prose_with_commas_is_no_table() -> None:
    text = "First we rest, then we walk.\nThen we eat, and we sleep.\n"
    assert read(text.encode())[0] == "txt"


def test_markdown_is_cut_at_headings_and_code_has_none() -> None:
    text = "# Beds\n\nSoil.\n\n```\n# no heading\n```\n\n## Frost\n\nCover them."
    kind, (page,), _ = read(text.encode())
    assert kind == "md"
    assert [label for _, label in page.marks] == ["Beds", "Beds › Frost"]
    assert "# no heading" in page.text


def test_html_gives_what_a_reader_sees() -> None:
    html = (
        "<!doctype html><title>Bees</title><script>x()</script><h1>Hive</h1><p>Wax &amp; honey</p>"
    )
    kind, (page,), _ = read(html.encode())
    assert kind == "html"
    assert page.text == "# Hive\n\nWax & honey"


def test_a_book_gives_its_chapters_in_reading_order() -> None:
    kind, pages, _ = read(epub(["<h1>End</h1><p>Rain.</p>", "<h1>Start</h1><p>Sun.</p>"]))
    assert kind == "epub"
    assert [page.label for page in pages] == ["Start", "End"]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Straße und Öl, Frühstück für zwölf Gäste. Danach gehen wir über die Brücke.", "cp1252"),
        ("今日は庭で写真を撮りました。とても楽しかったです。明日も行きます。", "utf-16"),
        ("Сегодня мы ходили в лес за грибами. Погода была хорошая.", "utf-8-sig"),
    ],
)
def test_text_is_read_in_whatever_encoding_it_is(text: str, encoding: str) -> None:
    assert texts(read(text.encode(encoding))[1]) == [text]


@pytest.mark.ocr
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP", "PDF"])
def test_pictures_of_text_are_read(kind: str) -> None:
    _, (page,), remarks = read(picture("The kiln fires at noon", kind))
    assert page.text == "The kiln fires at noon"
    assert page.by_ocr
    assert remarks == []


@pytest.mark.parametrize("kind", ["PNG", "PDF"])
def test_without_tesseract_a_picture_says_what_is_missing(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    body = picture("The kiln fires at noon", kind)
    monkeypatch.setenv("PATH", str(tmp_path_factory.mktemp("empty")))
    assert refusal(body) == "ocr_missing"


def test_the_name_of_a_file_says_nothing_about_its_kind() -> None:
    # Readers are given bytes alone; a PDF that begins with some rubbish is a PDF nevertheless.
    assert read(b"\n\n" + pdf(["Clay and water"]))[0] == "pdf"
