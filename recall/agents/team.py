"""The team's feed: memories that people of this server share with each other.

There is one team, which the setting BACKREAD_TEAM_ID names; all accounts of the server are in it.
What is shared is a copy, so the others see nothing else of an account.
"""

from datetime import datetime

from pydantic import Field

from backread.domain import Principal
from backread.errors import InvalidInput, NotFound
from backread.identity import statement_hash
from backread.jobs.scrubbing import scrub_later
from backread.kernel import Kernel
from backread.store.models import TeamItem
from backread.store.repositories import team_items as store
from backread.store.repositories.memories import get_memory
from backread.text.secret_scan import secrets_in
from recall.memories import checked_text
from recall.rendering import NOTICE, clean, day, envelope, one_line
from recall.wire import ResultModel

DEFAULT_ITEMS, MAX_ITEMS = 20, 100


class TeamProfile(ResultModel):
    team_id: str
    shared_items: int


class SharedResult(ResultModel):
    """What became of it. `shared` is False when this account had shared the same before."""

    team_id: str
    shared: bool
    item_text: str

    @property
    def text(self) -> str:
        what = "Shared with" if self.shared else "Was shared already with"
        return f"{what} the team {one_line(self.team_id)}."


class FeedItem(ResultModel):
    id: str
    text: str
    shared_by: str
    shared_at: datetime


class TeamFeed(ResultModel):
    """What the team shared, the latest first."""

    team_id: str
    items: list[FeedItem]
    total: int
    next_cursor: str = Field("", description="Empty on the last page.")
    notice: str = NOTICE

    @property
    def text(self) -> str:
        if not self.items:
            return "The team has shared nothing yet."
        lines = "\n".join(
            f"- {each.text} [shared by {one_line(each.shared_by)}, {day(each.shared_at)}]"
            for each in self.items
        )
        lead = f"{len(self.items)} of {self.total} shared items, the latest first."
        if self.next_cursor:
            lead += f' For more call again with cursor "{self.next_cursor}".'
        return envelope([lines], before=lead)


def team_profile(kernel: Kernel, team_id: str) -> TeamProfile:
    """Of a team that is not this server's: one that shares nothing."""
    if not team_id or team_id != kernel.settings.team_id:
        return TeamProfile(team_id=team_id, shared_items=0)
    with kernel.store.read() as session:
        count = store.count_items(session, team_id)
    return TeamProfile(team_id=team_id, shared_items=count)


def share(
    kernel: Kernel, principal: Principal, *, memory_id: str | None = None, text: str | None = None
) -> SharedResult:
    """Shares a memory of the account, or a statement. Raises InvalidInput unless exactly one is
    given and when there is no team or the text holds a secret; NotFound for an unknown memory."""
    team_id = _team(kernel)
    if (memory_id is None) == (text is None):
        raise InvalidInput("Give either memoryId or text.")
    with kernel.store.write() as session:
        if memory_id is not None:
            text = get_memory(session, principal.account_id, memory_id).text
        statement = checked_text(text or "")
        if secrets_in([statement]):
            raise InvalidInput(
                "This holds a key or a password, so it was not shared.",
                hint="Share it without the secret.",
            )
        item = TeamItem(
            team_id=team_id,
            account_id=principal.account_id,
            text=statement,
            text_hash=statement_hash(statement),
            memory_id=memory_id,
            client_id=principal.client_id,
        )
        is_new = store.add_item(session, item)
    return SharedResult(team_id=team_id, shared=is_new, item_text=clean(statement))


def feed(
    kernel: Kernel, principal: Principal, *, limit: int = DEFAULT_ITEMS, cursor: str = ""
) -> TeamFeed:
    """What everybody has shared. Raises InvalidInput when there is no team."""
    team_id = _team(kernel)
    with kernel.store.read() as session:
        rows = store.list_items(session, team_id, before_id=cursor, limit=limit + 1)
        total = store.count_items(session, team_id)
    shown = rows[:limit]
    return TeamFeed(
        team_id=team_id,
        items=[
            FeedItem(id=row.id, text=row.text, shared_by=row.shared_by, shared_at=row.shared_at)
            for row in shown
        ],
        total=total,
        next_cursor=shown[-1].id if len(rows) > limit else "",
    )


def take_back(kernel: Kernel, principal: Principal, item_id: str) -> None:
    """Removes an item that the account has shared. Raises NotFound for any other."""
    with kernel.store.write() as session:
        if not store.delete_item(session, principal.account_id, _team(kernel), item_id):
            raise NotFound("You have not shared such an item.")
        scrub_later(session)


def _team(kernel: Kernel) -> str:
    if not kernel.settings.team_id:
        raise InvalidInput(
            "This server has no team.", hint="Its operator can set BACKREAD_TEAM_ID."
        )
    return kernel.settings.team_id
