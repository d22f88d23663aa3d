"""Clearing away what has expired: sign-ins, tokens, invites, and streams that nobody holds.

None of it works any more once it has expired, whether its row is still here or not.
"""

from datetime import timedelta

from backread.jobs.registry import UPKEEP
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.repositories import (
    accounts,
    event_streams,
    oauth,
    passkeys,
    people,
    personal_tokens,
)

_PAST_ANY_CONSENT = timedelta(hours=1)
_SILENT = timedelta(hours=1)
_SHOWN_AS_EXPIRED = timedelta(days=30)


def clear_expired(kernel: Kernel) -> None:
    """Removes expired sessions, sign-ins under way, OAuth consents, codes, tokens and grants,
    invites, personal tokens that expired a month ago, and event streams without a process."""
    now = utcnow()
    with kernel.store.write() as session:
        accounts.delete_ended_sign_ins(session, now=now)
        passkeys.delete_ended_challenges(session, now=now)
        people.delete_ended_invites(session, now=now)
        personal_tokens.delete_expired_tokens(session, expired_before=now - _SHOWN_AS_EXPIRED)
        event_streams.delete_silent_streams(session, seen_before=now - _SILENT)
        oauth.delete_ended(
            session,
            now=now,
            superseded_before=now - _PAST_ANY_CONSENT,
            granted_before=now - timedelta(days=kernel.settings.refresh_token_absolute_days),
        )


UPKEEP.append(clear_expired)
