"""What a search in files gives."""

from datetime import datetime

from recall.rendering import NOTICE, clean, day, envelope, one_line
from recall.wire import ResultModel


class FoundFilePassage(ResultModel):
    """One passage and where it stands. `pages` are numbers of pages, slides, parts of a sheet or
    sections, as the viewer counts them; `location` says the same in words."""

    file_id: str
    file_name: str
    bucket_id: int | None  # None for a document of a project
    bucket_name: str
    project: str  # of a document that an export brought; empty for uploads
    text: str
    location: str
    pages: list[int]
    heading: str
    dated: datetime | None
    link: str
    score: float


class FileSearchResult(ResultModel):
    """Passages by relevance, best first. `found` is False when nothing speaks of the query; then
    there are none. `files_waiting` are uploads that are not read yet and were not searched."""

    query: str
    found: bool
    passages: list[FoundFilePassage]
    passages_searched: int
    files_waiting: int
    notice: str = NOTICE

    @property
    def text(self) -> str:
        """For a model: each passage under its source, marked as data."""
        waiting = ""
        if self.files_waiting:
            are = "file is" if self.files_waiting == 1 else "files are"
            waiting = f" {self.files_waiting} uploaded {are} still being read and not searched yet."
        if not self.found:
            if not self.passages_searched:
                return f"There are no uploaded files to search.{waiting}"
            return f"Not found: nothing in the files speaks of this.{waiting}"
        parts = [
            f"[{number}] {_source(each)}\n{clean(each.text)}"
            for number, each in enumerate(self.passages, 1)
        ]
        return envelope(parts, before=waiting.strip())


def _source(passage: FoundFilePassage) -> str:
    where = [f"“{one_line(passage.file_name)}”", one_line(passage.location)]
    if passage.project:
        where.append(f"project “{one_line(passage.project)}”")
    elif passage.bucket_id is not None:
        where.append(f"file bucket {passage.bucket_id} “{one_line(passage.bucket_name)}”")
    where.append(day(passage.dated))
    return f"{', '.join(where)}. file {passage.file_id}, {passage.link}"
