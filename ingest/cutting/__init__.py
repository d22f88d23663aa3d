"""From a source to its conversations, whatever form it has."""

from collections.abc import Iterator

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.activity import ACTIVITY_PAGE, ACTIVITY_ROWS
from ingest.cutting.backups import BROWSER_BACKUP
from ingest.cutting.base import Cutter
from ingest.cutting.databases import CURSOR_DATABASE
from ingest.cutting.foldered import CHATBOTUI_CHATS, TYPINGMIND_CHATS
from ingest.cutting.lines import SESSION_LINES
from ingest.cutting.memory_files import MEMORY_FILE
from ingest.cutting.messages import MESSAGE_LIST, PLAIN_LIST
from ingest.cutting.nested import NESTED_MESSAGES
from ingest.cutting.own_archive import OWN_ARCHIVE
from ingest.cutting.pages import PAGE_DATA
from ingest.cutting.tables import TABLE
from ingest.cutting.texts import TEXT
from ingest.cutting.traces import TRACES
from ingest.cutting.wrapped import WRAPPED_LIST
from ingest.json_stream import Element, split

# Asked in this order; plain JSON is what none of them claims.
CUTTERS: tuple[Cutter, ...] = (
    OWN_ARCHIVE,
    CURSOR_DATABASE,
    ACTIVITY_PAGE,
    PAGE_DATA,
    TABLE,
    MEMORY_FILE,
    TEXT,
    ACTIVITY_ROWS,
    MESSAGE_LIST,
    PLAIN_LIST,
    NESTED_MESSAGES,
    TYPINGMIND_CHATS,
    CHATBOTUI_CHATS,
    BROWSER_BACKUP,
    TRACES,
    SESSION_LINES,
    WRAPPED_LIST,
)


def cutter_for(source: Source) -> Cutter | None:
    """The cutter for a source that is not simply JSON with a conversation in each element."""
    head = source.head()
    return next((each for each in CUTTERS if each.claims(source, head)), None)


def cut(source: Source, settings: Settings) -> Iterator[Element]:
    """All conversations of a source, in order. Reads only as far as the caller iterates."""
    cutter = cutter_for(source)
    if cutter is None:
        return split(source.chunks(), settings.conversation_max_bytes)
    return cutter.cut(source, settings)
