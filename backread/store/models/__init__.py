"""All tables, imported here so that `Base.metadata` is complete wherever models are used."""

from backread.store.models.account import Account, WebSession
from backread.store.models.capture import Capture, Tombstone
from backread.store.models.companion import Companion
from backread.store.models.conversation import Conversation, Message, Passage
from backread.store.models.credentials import (
    AuthenticatorApp,
    Invite,
    Passkey,
    PersonalToken,
    RecoveryCode,
    SignInChallenge,
)
from backread.store.models.document import Document
from backread.store.models.event_stream import EventStream, StreamReply
from backread.store.models.imports import Import, ImportItem
from backread.store.models.job import Job
from backread.store.models.memory import Bucket, Memory, SuggestedMemory
from backread.store.models.oauth import (
    OAuthClient,
    OAuthCode,
    OAuthConsent,
    OAuthGrant,
    OAuthToken,
)
from backread.store.models.removal import IndexRemoval
from backread.store.models.upload import Upload

__all__ = [
    "Account",
    "AuthenticatorApp",
    "Bucket",
    "Capture",
    "Companion",
    "Conversation",
    "Document",
    "EventStream",
    "Import",
    "ImportItem",
    "IndexRemoval",
    "Invite",
    "Job",
    "Memory",
    "Message",
    "OAuthClient",
    "OAuthCode",
    "OAuthConsent",
    "OAuthGrant",
    "OAuthToken",
    "Passage",
    "Passkey",
    "PersonalToken",
    "RecoveryCode",
    "SignInChallenge",
    "StreamReply",
    "SuggestedMemory",
    "Tombstone",
    "Upload",
    "WebSession",
]
