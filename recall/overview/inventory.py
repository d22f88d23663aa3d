"""The inventory: what there is, counted from the conversations at the moment of asking."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from backread.store.engine import ReadSession
from backread.store.repositories import overview as store
from backread.store.repositories.overview import ActivityRow
from recall.rendering import counted, days
from recall.wire import ResultModel

_BUSIEST = 3


class PlatformShare(ResultModel):
    platform: str
    conversations: int
    messages: int
    share: float = Field(description="Of all messages, 0 to 1.")
    first_message_at: datetime | None
    last_message_at: datetime | None


class MonthCount(ResultModel):
    month: str = Field(description="YYYY-MM, in UTC.")
    conversations: int = Field(description="Conversations with messages in it.")
    messages: int


class LanguageShare(ResultModel):
    language: str = Field(description="ISO 639-1.")
    conversations: int
    share: float = Field(description="Of the conversations whose language can be told.")


class Inventory(ResultModel):
    conversations: int
    messages: int
    first_message_at: datetime | None
    last_message_at: datetime | None
    platforms: list[PlatformShare]
    months: list[MonthCount] = Field(description="Every month with messages, oldest first.")
    busiest_months: list[MonthCount]
    languages: list[LanguageShare]
    undated_conversations: int = 0
    left_out: int = Field(
        0, description="Conversations about private matters, which no portrait is made of."
    )

    @property
    def lines(self) -> list[str]:
        """For a model."""
        if not self.conversations:
            return ["There are no conversations yet."]
        lines = [
            f"{counted(self.conversations, 'conversation')} with "
            f"{counted(self.messages, 'message')}, "
            f"{days(self.first_message_at, self.last_message_at)}."
        ]
        lines += [
            f"- {each.platform}: {counted(each.conversations, 'conversation')}, "
            f"{counted(each.messages, 'message')} "
            f"({each.share:.0%}), {days(each.first_message_at, each.last_message_at)}"
            for each in self.platforms
        ]
        if self.busiest_months:
            told = ", ".join(f"{each.month} ({each.messages:,})" for each in self.busiest_months)
            lines.append(f"- Busiest months by messages: {told}")
        if self.languages:
            told = ", ".join(f"{each.language} {each.share:.0%}" for each in self.languages)
            lines.append(f"- Languages by conversations: {told}")
        return lines


def take_inventory(session: ReadSession, account_id: str) -> Inventory:
    """Exact for platforms, counts and dates. Months and languages of a conversation that has no
    digest yet: by its first message, and unknown."""
    totals = store.platform_totals(session, account_id)
    rows = store.activity(session, account_id)
    messages = sum(each.messages for each in totals)
    months = _months(rows)
    return Inventory(
        conversations=sum(each.conversations for each in totals),
        messages=messages,
        first_message_at=min((each.first_at for each in totals if each.first_at), default=None),
        last_message_at=max((each.last_at for each in totals if each.last_at), default=None),
        platforms=[
            PlatformShare(
                platform=each.platform,
                conversations=each.conversations,
                messages=each.messages,
                share=round(each.messages / messages, 4) if messages else 0.0,
                first_message_at=each.first_at,
                last_message_at=each.last_at,
            )
            for each in totals
        ],
        months=months,
        busiest_months=sorted(months, key=lambda each: (-each.messages, each.month))[:_BUSIEST],
        languages=_languages(rows),
        undated_conversations=sum(each.first_at is None for each in rows),
        left_out=sum(each.is_private for each in rows),
    )


def _months(rows: Sequence[ActivityRow]) -> list[MonthCount]:
    messages: Counter[str] = Counter()
    conversations: Counter[str] = Counter()
    for row in rows:
        own = row.months
        if own is None:
            own = {f"{row.first_at:%Y-%m}": row.messages} if row.first_at else {}
        for month, count in own.items():
            messages[month] += count
            conversations[month] += 1
    return [
        MonthCount(month=month, conversations=conversations[month], messages=messages[month])
        for month in sorted(messages)
    ]


def _languages(rows: Sequence[ActivityRow]) -> list[LanguageShare]:
    counted = Counter(row.language for row in rows if row.language)
    total = counted.total()
    return [
        LanguageShare(language=code, conversations=count, share=round(count / total, 4))
        for code, count in counted.most_common()
    ]
