"""Uploaded documents as the REST interface gives them."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from backread.store.models import File, FileBucket, FileVersion


class FileBucketOut(BaseModel):
    """A folder of uploaded documents."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    is_default: bool = Field(description="Takes the files that name no bucket.")
    created_at: datetime


class FileBucketRow(FileBucketOut):
    files: int
    size_bytes: int


class FileBucketList(BaseModel):
    items: list[FileBucketRow]


class FileBucketName(BaseModel):
    name: str = Field(min_length=1, max_length=200)


class FileProblem(BaseModel):
    """Why a file could not be taken in or read."""

    code: str
    message: str
    hint: str


class FileOut(BaseModel):
    """An uploaded document."""

    id: str
    name: str
    bucket_id: int
    bucket_name: str
    size_bytes: int
    sha256: str = Field(description="Of the original bytes.")
    version: int = Field(description="Goes up when a file of the same name replaces this one.")
    uploaded_at: datetime
    state: str = Field(description="waiting, reading, ready or failed.")
    problem: FileProblem | None = Field(description="Why it failed.")
    remarks: list[str] = Field(description="What of it was not read.")
    kind: str = Field(description="pdf, docx, pptx, xlsx, csv, html, md, txt, epub or image.")
    page_unit: str = Field(description="What its pages are: page, slide, sheet, section, image.")
    page_count: int
    character_count: int
    passage_count: int
    read_at: datetime | None

    @classmethod
    def of(cls, file: File, bucket: FileBucket) -> "FileOut":
        return cls(
            id=file.id,
            name=file.name,
            bucket_id=bucket.id,
            bucket_name=bucket.name,
            size_bytes=file.size_bytes,
            sha256=file.sha256,
            version=file.version,
            uploaded_at=file.uploaded_at,
            state=file.state,
            problem=FileProblem(
                code=file.problem, message=file.problem_text, hint=file.problem_hint
            )
            if file.problem
            else None,
            remarks=[str(remark) for remark in file.remarks],
            kind=file.kind,
            page_unit=file.page_unit,
            page_count=file.page_count,
            character_count=file.character_count,
            passage_count=file.passage_count,
            read_at=file.read_at,
        )


class FileVersionOut(BaseModel):
    """An earlier original that is kept."""

    model_config = ConfigDict(from_attributes=True)

    version: int
    size_bytes: int
    sha256: str
    uploaded_at: datetime


class FileDetail(FileOut):
    versions: list[FileVersionOut] = Field(description="Earlier originals, newest first.")

    @classmethod
    def with_versions(
        cls, file: File, bucket: FileBucket, versions: Sequence[FileVersion]
    ) -> "FileDetail":
        known = [FileVersionOut.model_validate(each) for each in versions]
        return cls(**FileOut.of(file, bucket).model_dump(), versions=known)


class FileList(BaseModel):
    items: list[FileOut]
    total: int = Field(description="Files that match, on all pages.")
    offset: int


class FilePageOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    number: int
    label: str = Field(description="Its heading, slide title or sheet name.")
    text: str
    by_ocr: bool = Field(description="Read from a picture, so letters may be wrong.")


class UploadsToKeep(BaseModel):
    """Files that were uploaded before, by their ids."""

    uploads: list[str] = Field(min_length=1, max_length=1000)
    bucket_id: int | None = None
    bucket: str = Field("", max_length=200, description="By name; made when there is none.")


class KeptFileOut(BaseModel):
    """What became of one file."""

    name: str
    outcome: str = Field(description="added, replaced, unchanged or refused.")
    file_id: str | None
    problem: FileProblem | None


class FilesKept(BaseModel):
    items: list[KeptFileOut]


class DeletionReceipt(BaseModel):
    """What was deleted, and from where."""

    model_config = ConfigDict(from_attributes=True)

    names: list[str]
    deleted_at: datetime
    files: int
    originals: int = Field(description="Stored originals that nothing else needed.")
    passages: int
    index: str = Field(description="removed, or pending: the index was away and a job does it.")
