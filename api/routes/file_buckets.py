from fastapi import APIRouter, status

from api.deps import CsrfDep, KernelDep, MemoryReaderDep, MemoryWriterDep, ReadDep, WriteDep
from api.schemas.files import (
    DeletionReceipt,
    FileBucketList,
    FileBucketName,
    FileBucketOut,
    FileBucketRow,
)
from backread.store.repositories.file_buckets import file_buckets_of, named_file_bucket
from ingest.documents.keeping import checked_name, remove_bucket, rename_bucket

router = APIRouter(tags=["files"])


@router.get("/file-buckets")
def get_file_buckets(session: ReadDep, principal: MemoryReaderDep) -> FileBucketList:
    """Folders of uploaded documents, the default one first. They are apart from the buckets of
    memories."""
    rows = file_buckets_of(session, principal.account_id)
    return FileBucketList(
        items=[
            FileBucketRow(
                **FileBucketOut.model_validate(each.bucket).model_dump(),
                files=each.files,
                size_bytes=each.size_bytes,
            )
            for each in rows
        ]
    )


@router.post("/file-buckets", status_code=status.HTTP_201_CREATED, dependencies=[CsrfDep])
def post_file_bucket(
    session: WriteDep, principal: MemoryWriterDep, wanted: FileBucketName
) -> FileBucketOut:
    """Makes a bucket; one with this name that is there already is given back."""
    bucket = named_file_bucket(session, principal.account_id, checked_name(wanted.name))
    return FileBucketOut.model_validate(bucket)


@router.patch("/file-buckets/{bucket_id}", dependencies=[CsrfDep])
def patch_file_bucket(
    session: WriteDep, principal: MemoryWriterDep, bucket_id: int, wanted: FileBucketName
) -> FileBucketOut:
    """Gives a bucket another name."""
    return FileBucketOut.model_validate(rename_bucket(session, principal, bucket_id, wanted.name))


@router.delete("/file-buckets/{bucket_id}", dependencies=[CsrfDep])
def delete_file_bucket(
    kernel: KernelDep, principal: MemoryWriterDep, bucket_id: int
) -> DeletionReceipt:
    """Deletes a bucket with all its files, everywhere. The answer is the receipt."""
    return DeletionReceipt.model_validate(remove_bucket(kernel, principal, bucket_id))
