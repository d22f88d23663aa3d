"""Small documents of every kind, written by hand so that each holds what its test is about."""

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
A = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, body in parts.items():
            package.writestr(name, body)
    return buffer.getvalue()


def relations(*targets: tuple[str, str, str]) -> str:
    """(id, kind, target) each."""
    rows = "".join(
        f'<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for id, kind, target in targets
    )
    return f'<Relationships xmlns="{RELATIONS}">{rows}</Relationships>'


def content_types(*parts: tuple[str, str]) -> str:
    rows = "".join(f'<Override PartName="{name}" ContentType="{kind}"/>' for name, kind in parts)
    default = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
    default += 'relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
    return f'<Types xmlns="{TYPES}">{default}{rows}</Types>'


def pdf(pages: Sequence[str], *, extra: str = "") -> bytes:
    """A line of text for each line of a page. `extra` goes into the trailer."""
    objects: list[bytes] = []
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects.append(b"<</Type/Catalog/Pages 2 0 R>>")
    objects.append(f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode())
    objects.append(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    for number, text in enumerate(pages):
        shown = " ".join(f"({_escaped(line)}) Tj T*" for line in text.split("\n"))
        stream = f"BT /F1 12 Tf 72 720 Td 16 TL {shown} ET".encode("latin-1")
        contents = 5 + 2 * number
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>"
            f"/Contents {contents} 0 R>>".encode()
        )
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream))
    return _pdf_file(objects, extra)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _pdf_file(objects: Sequence[bytes], extra: str) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += f"trailer<</Size {len(objects) + 1}/Root 1 0 R{extra}>>\n".encode()
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def encrypted_pdf() -> bytes:
    """Standard handler, with keys that no empty password opens."""
    keys = f"/O<{'41' * 32}>/U<{'42' * 32}>"
    handler = f"/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P -44{keys}>>"
    return pdf(["secret"], extra=f"{handler}/ID[<{'00' * 16}><{'00' * 16}>]")


def endless_pdf(pages: int) -> bytes:
    """So many pages, all the same object: a few kilobytes to write, minutes to read."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count %d>>" % pages,
        b"<</Type/Pages/Parent 2 0 R/Kids[%s]/Count %d>>" % (b"4 0 R " * pages, pages),
        b"<</Type/Page/Parent 3 0 R/MediaBox[0 0 612 792]>>",
    ]
    return _pdf_file(objects, "")


def paragraph(text: str, *, style: str = "", before: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r>{before}<w:t>{text}</w:t></w:r></w:p>"


def docx(body: str, *, prolog: str = "", further: Mapping[str, str | bytes] | None = None) -> bytes:
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    styles = (
        f'<w:styles {W}><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style></w:styles>'
    )
    return packed(
        {
            "[Content_Types].xml": content_types(("/word/document.xml", main)),
            "_rels/.rels": relations(("r1", "officeDocument", "word/document.xml")),
            "word/document.xml": f"{prolog}<w:document {W}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": styles,
            **(further or {}),
        }
    )


def slide(title: str, *lines: str) -> str:
    def shape(kind: str, texts: Sequence[str]) -> str:
        rows = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts)
        placeholder = f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>'
        return f"<p:sp><p:nvSpPr>{placeholder}</p:nvSpPr><p:txBody>{rows}</p:txBody></p:sp>"

    shapes = shape("title", [title]) + shape("body", lines) + shape("sldNum", ["7"])
    return f"<p:sld {A}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"


def pptx(slides: Sequence[str], *, order: Sequence[int] = (), notes: str = "") -> bytes:
    order = order or range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + number}" r:id="r{number}"/>' for number in order)
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": content_types(),
        "_rels/.rels": relations(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"<p:presentation {A}><p:sldIdLst>{ids}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *((f"r{n}", "slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1))
        ),
    }
    for number, text in enumerate(slides, 1):
        parts[f"ppt/slides/slide{number}.xml"] = text
    if notes:
        parts["ppt/slides/_rels/slide1.xml.rels"] = relations(
            ("r1", "notesSlide", "../notesSlides/notesSlide1.xml")
        )
        parts["ppt/notesSlides/notesSlide1.xml"] = slide("", notes)
    return packed(parts)


def xlsx(sheets: Mapping[str, Sequence[Sequence[str | float]]]) -> bytes:
    spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    overrides = [("/xl/workbook.xml", f"{spreadsheet}.sheet.main+xml")]
    parts: dict[str, str | bytes] = {}
    names = ""
    for number, (name, rows) in enumerate(sheets.items(), 1):
        part = f"xl/worksheets/sheet{number}.xml"
        overrides.append((f"/{part}", f"{spreadsheet}.worksheet+xml"))
        names += f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>'
        parts[part] = f"<worksheet {S}><sheetData>{_rows(rows)}</sheetData></worksheet>"
    targets = [
        (f"r{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)
    ]
    return packed(
        {
            "[Content_Types].xml": content_types(*overrides),
            "_rels/.rels": relations(("r1", "officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f'<workbook {S} xmlns:r="{OFFICE}"><sheets>{names}</sheets>'
            "</workbook>",
            "xl/_rels/workbook.xml.rels": relations(*targets),
            **parts,
        }
    )


def _rows(rows: Sequence[Sequence[str | float]]) -> str:
    out = ""
    for at, row in enumerate(rows, 1):
        cells = ""
        for column, value in enumerate(row):
            place = f"{chr(65 + column)}{at}"
            if isinstance(value, str):
                cells += f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
            else:
                cells += f'<c r="{place}"><v>{value}</v></c>'
        out += f'<row r="{at}">{cells}</row>'
    return out


def epub(chapters: Sequence[str], *, further: Mapping[str, str | bytes] | None = None) -> bytes:
    items = "".join(
        f'<item id="c{n}" href="text/c{n}.xhtml" media-type="application/xhtml+xml"/>'
        for n in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in reversed(range(len(chapters))))
    package = "http://www.idpf.org/2007/opf"
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    return packed(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OEBPS/book.opf": f'<package xmlns="{package}"><manifest>{items}</manifest>'
            f"<spine>{spine}</spine></package>",
            **{
                f"OEBPS/text/c{number}.xhtml": '<?xml version="1.0"?><!DOCTYPE html>'
                f"<html><body>{text}</body></html>"
                for number, text in enumerate(chapters)
            },
            **(further or {}),
        }
    )


def picture(text: str, kind: str = "PNG") -> bytes:
    """An image of a line of text."""
    image = Image.new("RGB", (900, 160), "white")
    font = ImageFont.load_default(44)
    ImageDraw.Draw(image).text((30, 50), text, fill="black", font=font)
    buffer = BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()
