"""Buckets: where memories lie."""

from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded, NotFound
from backread.kernel import Kernel
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Bucket
from backread.store.repositories import memories as store
from recall.memories.results import BucketList, BucketView, MadeBucket

MAX_BUCKET_NAME = 200


def list_buckets(kernel: Kernel, principal: Principal) -> BucketList:
    """All buckets with the number of their memories, the default one first."""
    with kernel.store.read() as session:
        views = bucket_views(session, principal)
    return BucketList(buckets=views, bucket_total=len(views))


def bucket_views(session: ReadSession, principal: Principal) -> list[BucketView]:
    return [
        BucketView(
            bucket_id=each.bucket.id,
            name=each.bucket.name,
            is_default=each.bucket.is_default,
            memory_count=each.memories,
        )
        for each in store.buckets_of(session, principal.account_id)
    ]


def create_bucket(kernel: Kernel, principal: Principal, name: str) -> MadeBucket:
    """The bucket with this name, in any case of letters; made when there is none. Raises
    InvalidInput for an empty name, LimitExceeded beyond 200 characters."""
    with kernel.store.write() as session:
        bucket, created = bucket_by_name(session, principal, name)
        views = bucket_views(session, principal)
    (count,) = [each.memory_count for each in views if each.bucket_id == bucket.id]
    return MadeBucket(bucket_id=bucket.id, name=bucket.name, created=created, memory_count=count)


def bucket_by_name(session: WriteSession, principal: Principal, name: str) -> tuple[Bucket, bool]:
    """The bucket, and whether it was made for this. Raises as `create_bucket` does."""
    name = " ".join(name.split())
    if not name:
        raise InvalidInput("The bucket has no name.", hint="Give it one, such as Garden.")
    if len(name) > MAX_BUCKET_NAME:
        raise LimitExceeded(f"The name of a bucket may have {MAX_BUCKET_NAME} characters.")
    found = store.bucket_called(session, principal.account_id, name)
    if found is not None:
        return found, False
    return store.named_bucket(session, principal.account_id, name), True


def find_bucket(session: WriteSession, principal: Principal, bucket_id: int | str | None) -> Bucket:
    """The bucket with this id, or the default one. Raises NotFound."""
    if bucket_id is None:
        return store.default_bucket(session, principal.account_id)
    return store.hold_bucket(session, principal.account_id, bucket_number(bucket_id))


def existing_bucket(
    session: ReadSession, principal: Principal, bucket_id: int | str | None
) -> int | None:
    """The id as a number, None for none. Raises NotFound for a bucket that is not there."""
    if bucket_id is None:
        return None
    return store.get_bucket(session, principal.account_id, bucket_number(bucket_id)).id


def bucket_number(value: int | str) -> int:
    """The id as a number. Raises NotFound for what cannot be one."""
    try:
        number = int(value)
    except ValueError:
        number = 0
    if not 0 < number < 2**63:
        raise NotFound(
            "There is no bucket with this id.", hint="list_buckets shows the buckets and their ids."
        )
    return number
