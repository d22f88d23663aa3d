"""Artifacts as the REST interface gives them."""

from datetime import datetime

from pydantic import BaseModel, Field

from api.artifacts import Made, file_name
from backread.artifacts import Artifact, Version


class CommentOut(BaseModel):
    quote: str = Field(description="The words that the comment is about, as the platform has them.")
    text: str


class VersionHead(BaseModel):
    """A version without its text."""

    number: int = Field(description="From 1.")
    message_id: str = Field(description="The message that made it.")
    created_at: datetime | None
    command: str = Field(description="create, rewrite, update or comment.")
    characters: int
    problem: str = Field(description="Why its change could not be applied; empty when it was.")


class ArtifactOut(BaseModel):
    number: int = Field(description="From 1, in the order in which they were made on this line.")
    id: str = Field(description="The platform's own name for it.")
    title: str
    type: str
    language: str
    file_name: str
    versions: list[VersionHead]


class ArtifactList(BaseModel):
    items: list[ArtifactOut]


class VersionOut(VersionHead):
    """A version with its whole text."""

    artifact: ArtifactOut
    text: str
    change: str = Field(description="The change as it came, when it could not be applied.")
    comments: list[CommentOut]


def artifact_out(artifact: Artifact) -> ArtifactOut:
    return ArtifactOut(
        number=artifact.number,
        id=artifact.id,
        title=artifact.title,
        type=artifact.type,
        language=artifact.language,
        file_name=file_name(artifact),
        versions=[_head(version) for version in artifact.versions],
    )


def version_out(made: Made) -> VersionOut:
    version = made.version
    return VersionOut(
        **_head(version).model_dump(),
        artifact=artifact_out(made.artifact),
        text=version.text,
        change=version.change,
        comments=[CommentOut(quote=each.quote, text=each.text) for each in version.comments],
    )


def _head(version: Version) -> VersionHead:
    return VersionHead(
        number=version.number,
        message_id=version.message_id,
        created_at=version.created_at,
        command=version.command,
        characters=len(version.text),
        problem=version.problem,
    )
