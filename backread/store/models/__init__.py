"""All tables, imported here so that `Base.metadata` is complete wherever models are used."""

from backread.store.models.account import Account, WebSession
from backread.store.models.agent import AgentSession, GraphEntity, GraphRelation, TeamItem
from backread.store.models.capture import Capture, Tombstone
from backread.store.models.category import BucketCategorisation, Category, CategoryMembership
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
from backread.store.models.embedding import EmbeddingModel
from backread.store.models.event_stream import EventStream, StreamReply
from backread.store.models.export_link import ExportLink
from backread.store.models.file import (
    DocumentReading,
    File,
    FileBucket,
    FileOriginal,
    FilePage,
    FilePassage,
    FileVersion,
)
from backread.store.models.folder import (
    Folder,
    FolderKey,
    FolderRecord,
    RecordChunk,
    RecordField,
    RecordProposition,
    RecordRevision,
    SimilarityCalibration,
)
from backread.store.models.imports import Import, ImportItem
from backread.store.models.job import Job, JobTurn
from backread.store.models.language import LanguageBudget, LanguageCall
from backread.store.models.memory import (
    Bucket,
    Forgetting,
    ForgottenMemory,
    Memory,
    SuggestedMemory,
)
from backread.store.models.note import Note, NotePassage, NoteRevision
from backread.store.models.oauth import (
    OAuthClient,
    OAuthCode,
    OAuthConsent,
    OAuthGrant,
    OAuthToken,
)
from backread.store.models.overview import ConversationDigest, Overview
from backread.store.models.removal import IndexRemoval
from backread.store.models.summary import StoredSummary, SummaryPart, SummaryPlan
from backread.store.models.upload import Upload

__all__ = [
    "Account",
    "AgentSession",
    "AuthenticatorApp",
    "Bucket",
    "BucketCategorisation",
    "Capture",
    "Category",
    "CategoryMembership",
    "Companion",
    "Conversation",
    "ConversationDigest",
    "Document",
    "DocumentReading",
    "EmbeddingModel",
    "EventStream",
    "ExportLink",
    "File",
    "FileBucket",
    "FileOriginal",
    "FilePage",
    "FilePassage",
    "FileVersion",
    "Folder",
    "FolderKey",
    "FolderRecord",
    "Forgetting",
    "ForgottenMemory",
    "GraphEntity",
    "GraphRelation",
    "Import",
    "ImportItem",
    "IndexRemoval",
    "Invite",
    "Job",
    "JobTurn",
    "LanguageBudget",
    "LanguageCall",
    "Memory",
    "Message",
    "Note",
    "NotePassage",
    "NoteRevision",
    "OAuthClient",
    "OAuthCode",
    "OAuthConsent",
    "OAuthGrant",
    "OAuthToken",
    "Overview",
    "Passage",
    "Passkey",
    "PersonalToken",
    "RecordChunk",
    "RecordField",
    "RecordProposition",
    "RecordRevision",
    "RecoveryCode",
    "SignInChallenge",
    "SimilarityCalibration",
    "StoredSummary",
    "StreamReply",
    "SuggestedMemory",
    "SummaryPart",
    "SummaryPlan",
    "TeamItem",
    "Tombstone",
    "Upload",
    "WebSession",
]
