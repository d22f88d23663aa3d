"""Uploads that survive a broken connection: the tus protocol, https://tus.io/protocols/resumable-upload
(1.0.0 with its extensions creation, expiration and termination)."""

import base64
import binascii
import re
from email.utils import format_datetime
from typing import Final

from anyio import CancelScope, move_on_after, to_thread
from fastapi import APIRouter, Depends, Request, Response, status
from fastapi.routing import APIRoute
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from api.deps import CsrfDep, HistoryWriterDep, KernelDep, ReadDep, SettingsDep, WriteDep
from api.routes.uploads import FORM_BODY, receive_upload, shown_name
from api.schemas.uploads import UploadIds, UploadList, UploadOut
from backread.errors import InvalidInput, LimitExceeded
from ingest.uploads import (
    UploadBusy,
    UploadState,
    UploadWriter,
    add_uploads,
    begin_upload,
    discard_upload,
    list_uploads,
    read_upload,
)

VERSION: Final = "1.0.0"
_EXTENSIONS: Final = "creation,expiration,termination"
_CONTENT_TYPE: Final = "application/offset+octet-stream"
_NUMBER: Final = re.compile(r"\d{1,18}")
_METADATA_CHARS: Final = 8_192
_WRITE_BYTES: Final = 1024**2  # handed to the disk at a time
# A connection that has died silently must not hold its upload for longer than this.
_SILENCE_SECONDS: Final = 20.0


class _TusRoute(APIRoute):
    """Names the protocol's version in every answer, errors among them."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Tus-Resumable"] = VERSION
            await send(message)

        await super().handle(scope, receive, named)


def _check_version(request: Request) -> None:
    if request.headers.get("tus-resumable") != VERSION:
        raise HTTPException(
            status.HTTP_412_PRECONDITION_FAILED,
            f"This server speaks version {VERSION} of the tus protocol.",
            headers={"Tus-Version": VERSION},
        )


VersionDep = Depends(_check_version)
router = APIRouter(tags=["uploads"], route_class=_TusRoute)


@router.options("/uploads", status_code=status.HTTP_204_NO_CONTENT)
def uploads_options(settings: SettingsDep) -> Response:
    """What this server can do, in tus headers."""
    return Response(
        status_code=status.HTTP_204_NO_CONTENT,
        headers={
            "Tus-Version": VERSION,
            "Tus-Extension": _EXTENSIONS,
            "Tus-Max-Size": str(settings.upload_max_bytes),
        },
    )


@router.get("/uploads")
def get_uploads(session: ReadDep, settings: SettingsDep, principal: HistoryWriterDep) -> UploadList:
    """Uploads that no import has taken over yet, oldest first."""
    found = list_uploads(session, settings, principal)
    return UploadList(items=[UploadOut.model_validate(each) for each in found])


@router.post(
    "/uploads",
    status_code=status.HTTP_201_CREATED,
    response_class=Response,
    dependencies=[CsrfDep, VersionDep],
)
def post_upload(request: Request, kernel: KernelDep, principal: HistoryWriterDep) -> Response:
    """tus: begins an upload of `Upload-Length` bytes; `Upload-Metadata` may hold its `filename`.
    The answer's `Location` takes the bytes."""
    size = _number(request, "Upload-Length")
    upload = begin_upload(kernel, principal, name=_file_name(request), size=size)
    return Response(
        status_code=status.HTTP_201_CREATED,
        headers={"Location": f"/api/v1/uploads/{upload.id}", **_expiry(upload)},
    )


@router.post(
    "/uploads/batch",
    status_code=status.HTTP_201_CREATED,
    dependencies=[CsrfDep],
    openapi_extra=FORM_BODY,
)
async def post_batch(request: Request, kernel: KernelDep, principal: HistoryWriterDep) -> UploadIds:
    """Many small files in one request, each whole, as a form. Answers with their ids in order."""
    settings = kernel.settings
    upload = await receive_upload(
        request, settings.uploads_dir, max_bytes=settings.upload_max_bytes
    )
    try:
        ids = await to_thread.run_sync(add_uploads, kernel, principal, upload.files)
    except BaseException:
        upload.discard()
        raise
    return UploadIds(ids=ids)


@router.head("/uploads/{upload_id}", response_class=Response, dependencies=[VersionDep])
def head_upload(kernel: KernelDep, principal: HistoryWriterDep, upload_id: str) -> Response:
    """tus: how much of it is here, in `Upload-Offset`."""
    upload = read_upload(kernel, principal, upload_id)
    name = base64.b64encode(upload.name.encode()).decode()
    return Response(
        headers={
            "Upload-Offset": str(upload.offset),
            "Upload-Length": str(upload.size),
            "Upload-Metadata": f"filename {name}",
            "Cache-Control": "no-store",
            **_expiry(upload),
        }
    )


@router.patch(
    "/uploads/{upload_id}",
    status_code=status.HTTP_204_NO_CONTENT,
    response_class=Response,
    dependencies=[CsrfDep, VersionDep],
)
async def patch_upload(
    request: Request, kernel: KernelDep, principal: HistoryWriterDep, upload_id: str
) -> Response:
    """tus: adds the body at `Upload-Offset`. What came before a connection broke is kept."""
    if request.headers.get("content-type") != _CONTENT_TYPE:
        raise HTTPException(
            status.HTTP_415_UNSUPPORTED_MEDIA_TYPE, f"The content type must be {_CONTENT_TYPE}."
        )
    offset = _number(request, "Upload-Offset")
    declared = request.headers.get("content-length", "")
    adds = int(declared) if _NUMBER.fullmatch(declared) else 0
    try:
        writer = await to_thread.run_sync(
            lambda: UploadWriter(kernel, principal, upload_id, offset=offset, adds=adds)
        )
    except UploadBusy as error:
        raise HTTPException(status.HTTP_423_LOCKED, str(error)) from error
    try:
        await _receive(request, writer)
    finally:
        with CancelScope(shield=True):
            await to_thread.run_sync(writer.close)
    upload = await to_thread.run_sync(read_upload, kernel, principal, upload_id)
    return Response(
        status_code=status.HTTP_204_NO_CONTENT,
        headers={"Upload-Offset": str(writer.offset), **_expiry(upload)},
    )


@router.delete(
    "/uploads/{upload_id}",
    status_code=status.HTTP_204_NO_CONTENT,
    response_class=Response,
    dependencies=[CsrfDep, VersionDep],
)
def delete_upload(
    session: WriteDep, settings: SettingsDep, principal: HistoryWriterDep, upload_id: str
) -> Response:
    """tus: gives an upload up and removes what is here of it."""
    discard_upload(session, settings, principal, upload_id)
    return Response(status_code=status.HTTP_204_NO_CONTENT)


async def _receive(request: Request, writer: UploadWriter) -> None:
    """Writes the body as it comes. What came before the client went away is written, too."""
    waiting = bytearray()
    body = aiter(request.stream())
    try:
        while True:
            with move_on_after(_SILENCE_SECONDS) as silence:
                chunk = await anext(body, None)
            if silence.cancelled_caught:
                raise HTTPException(status.HTTP_408_REQUEST_TIMEOUT, "The upload stood still.")
            if chunk is None:
                break
            waiting += chunk
            if len(waiting) >= _WRITE_BYTES:
                await to_thread.run_sync(writer.write, bytes(waiting))
                waiting.clear()
    except ClientDisconnect:
        pass  # nobody waits for the answer; the client asks with HEAD how far it came
    finally:
        if waiting:
            with CancelScope(shield=True):
                await to_thread.run_sync(writer.write, bytes(waiting))


def _number(request: Request, header: str) -> int:
    value = request.headers.get(header, "")
    if not _NUMBER.fullmatch(value):
        raise InvalidInput(
            f"The header {header} is missing or is no number of bytes.",
            hint="Lengths must be known from the start.",
        )
    return int(value)


def _file_name(request: Request) -> str:
    """The `filename` of `Upload-Metadata`: pairs of a key and a value in base 64."""
    metadata = request.headers.get("upload-metadata", "")
    if len(metadata) > _METADATA_CHARS:
        raise LimitExceeded("The header Upload-Metadata is too long.", hint="Send a name only.")
    for pair in metadata.split(","):
        key, _, value = pair.strip().partition(" ")
        if key != "filename":
            continue
        try:
            return shown_name(base64.b64decode(value, validate=True))
        except (binascii.Error, ValueError) as error:
            raise InvalidInput(
                "The header Upload-Metadata is damaged.", hint="Encode values in base 64."
            ) from error
    return shown_name(b"")


def _expiry(upload: UploadState) -> dict[str, str]:
    return {"Upload-Expires": format_datetime(upload.expires_at, usegmt=True)}
