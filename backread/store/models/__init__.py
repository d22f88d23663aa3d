"""All tables, imported here so that `Base.metadata` is complete wherever models are used."""

from backread.store.models.account import Account, WebSession
from backread.store.models.capture import Capture, Tombstone
from backread.store.models.conversation import Conversation, Message, Passage
from backread.store.models.imports import Import, ImportItem
from backread.store.models.job import Job
from backread.store.models.memory import Bucket, Memory
from backread.store.models.oauth import (
    OAuthClient,
    OAuthCode,
    OAuthConsent,
    OAuthGrant,
    OAuthToken,
)
from backread.store.models.removal import IndexRemoval

__all__ = [
    "Account",
    "Bucket",
    "Capture",
    "Conversation",
    "Import",
    "ImportItem",
    "IndexRemoval",
    "Job",
    "Memory",
    "Message",
    "OAuthClient",
    "OAuthCode",
    "OAuthConsent",
    "OAuthGrant",
    "OAuthToken",
    "Passage",
    "Tombstone",
    "WebSession",
]
