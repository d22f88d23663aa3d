"""How fast documents are read, in how much memory, and how well their passages are found.

    python -m benchmarks.documents [--pages 100] [--runs 3] [--model minilm]

Reading is measured as a worker does it, in a process of its own that starts for each document;
its start is in the figures. Retrieval asks forty questions about forty pages of an invented
household's papers, once in other words than the pages use and once by three of their words: the
share whose page is among the first five passages (R@5), and the mean of one over its rank, for
words and meaning together and for words alone. Twenty more questions have no answer in them.
"""

import argparse
import random
import re
import resource
import tempfile
import time
from pathlib import Path
from tempfile import TemporaryFile

from backread.domain import Principal, Scope
from backread.errors import Unavailable
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.llm.embedding import Embedder
from backread.settings import Settings
from backread.store.migrate import upgrade
from backread.store.models import Account
from benchmarks.document_facts import BESIDE_THE_POINT, PAPERS
from benchmarks.texts import passage_texts
from ingest import tasks
from ingest.documents.keeping import keep_body
from ingest.documents.pages import Page
from ingest.documents.process import limits_of, read_document
from recall.files.search import search_files
from tests.ingest.documents.makers import docx, paragraph, pdf, xlsx

__all__ = ["tasks"]  # importing the module registers the jobs

_LINE_CHARS = 90
_LINES = 45


def sample_pages(count: int) -> list[str]:
    words = " ".join(passage_texts(random.Random(1), count * 12))
    step = _LINE_CHARS * _LINES
    pages = []
    for number in range(count):
        text = words[number * step % len(words) :][:step].replace("\n", " ")
        pages.append(
            "\n".join(text[at : at + _LINE_CHARS] for at in range(0, len(text), _LINE_CHARS))
        )
    return pages


def reading(name: str, body: bytes, runs: int) -> None:
    best, processor, pages, characters = float("inf"), float("inf"), 0, 0
    for _ in range(runs):
        began, used = time.perf_counter(), _child_seconds()
        with TemporaryFile() as file:
            file.write(body)
            file.seek(0)
            found = [
                each
                for each in read_document(file, limits_of(Settings()))
                if isinstance(each, Page)
            ]
        best = min(best, time.perf_counter() - began)
        processor = min(processor, _child_seconds() - used)
        pages, characters = len(found), sum(len(page.text) for page in found)
    print(
        f"{name:<28}{len(body) / 1024:>8,.0f} kB{pages:>7} pages{characters:>10,} chars"
        f"{best:>8.2f} s{processor:>8.2f} CPU s{pages / processor:>9,.0f} pages/CPU s"
    )


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_megabytes() -> float:
    """Of the largest process that was waited for."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


class _WithoutModel(Kernel):
    """The same parts, but the model cannot be had."""

    def __init__(self, settings: Settings, real: Kernel) -> None:
        super().__init__(settings)
        self.__dict__.update(store=real.store, index=real.index)

    @property
    def embedder(self) -> Embedder:
        raise Unavailable("There is no model.")


def retrieval(model: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder), embedding_model=model)
        kernel = Kernel(settings)
        try:
            upgrade(kernel.store)
            with kernel.store.write() as session:
                account = Account(email="ada@example.org", password_hash="", role="member")
                session.add(account)
            principal = Principal(account.id, scopes=frozenset(Scope))
            for name, pages in PAPERS.items():
                body = pdf([text for text, _ in pages])
                keep_body(kernel, principal, name=f"{name}.pdf", body=body)
            run_pending(kernel)
            report("words and meaning", kernel, principal)
            report("words alone (BM25)", _WithoutModel(settings, kernel), principal)
        finally:
            kernel.close()


def report(name: str, kernel: Kernel, principal: Principal) -> None:
    asked = (search_files(kernel, principal, question) for question in BESIDE_THE_POINT)
    refused = sum(not result.found for result in asked)
    in_words = [
        (paper, number, (question, keywords(text)))
        for paper, pages in PAPERS.items()
        for number, (text, question) in enumerate(pages, 1)
    ]
    for place, how in enumerate(("other words", "three of its words")):
        ranks = [
            rank_of(kernel, principal, questions[place], f"{paper}.pdf", number)
            for paper, number, questions in in_words
        ]
        hits = sum(rank > 0 for rank in ranks) / len(ranks)
        mean = sum(1 / rank for rank in ranks if rank) / len(ranks)
        print(f"{name}, {how:<22}R@5 {hits:.2f}   MRR {mean:.2f}   of {len(ranks)} questions")
    print(f"{name}, nothing to find   refused {refused} of {len(BESIDE_THE_POINT)}")


def keywords(text: str) -> str:
    """The three longest words of a page."""
    words = sorted(set(re.findall(r"\w+", text.lower())), key=lambda word: (-len(word), word))
    return " ".join(words[:3])


def rank_of(kernel: Kernel, principal: Principal, question: str, name: str, page: int) -> int:
    """Of the page among the first five passages; 0 when it is not there."""
    found = search_files(kernel, principal, question, top_k=5).passages
    ranks = (
        rank for rank, each in enumerate(found, 1) if each.file_name == name and page in each.pages
    )
    return next(ranks, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--model", default="minilm")
    options = parser.parse_args()
    pages = sample_pages(options.pages)
    reading("PDF", pdf(pages), options.runs)
    print(f"{'peak memory of its process':<28}{peak_megabytes():>8,.0f} MB")
    lines = [line for page in pages for line in page.split("\n")]
    escaped = [line.replace("&", "&amp;").replace("<", "&lt;") for line in lines]
    reading("Word, the same text", docx("".join(map(paragraph, escaped))), options.runs)
    rows: list[list[str | float]] = [["Name", "Count", "Price"]]
    rows += [[f"Thing {n}", n, n / 7] for n in range(20_000)]
    reading("Excel, 20,000 rows", xlsx({"Things": rows}), options.runs)
    print(f"{'peak memory of all':<28}{peak_megabytes():>8,.0f} MB")
    retrieval(options.model)


if __name__ == "__main__":
    main()
