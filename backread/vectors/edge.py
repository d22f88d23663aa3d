"""The embedded index: Qdrant Edge shards in the data folder, one per collection.

A shard can be open in one process only, does not survive a fork, and holds the interpreter's lock
during every call. So one process owns the index (`owner.py`) and the others go through it.
`optimize()` is never called here: it would stop the whole process for as long as it runs.
"""

import fcntl
import os
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from qdrant_edge import (
    CountRequest,
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    FieldCondition,
    Filter,
    HnswIndexConfig,
    IdfParams,
    IntegerIndexParams,
    KeywordIndexParams,
    MatchAny,
    MatchValue,
    Modifier,
    Point,
    Query,
    QueryBatchRequest,
    QueryRequest,
    RangeFloat,
    SearchParams,
    SparseVector,
    UpdateOperation,
)

from backread.errors import Unavailable
from backread.log import get_logger
from backread.vectors import schema
from backread.vectors.encoded import EncodedFilter, EncodedPoint, EncodedQuery, EncodingIndex
from backread.vectors.index import Collection, ScoredPoint

FLUSH_SECONDS = 5.0

_log = get_logger(__name__)
