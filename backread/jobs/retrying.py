"""How often and how soon a job is tried again."""

import secrets

from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from backread.errors import BackreadError, RateLimited, Unavailable

MAX_FAILURES = 25  # in a row without progress: about an hour and a half of trying
MAX_LOSSES = 10  # of its process, in a row without progress
MAX_REVIVALS = 5  # of a dead job, by itself
SOON_SECONDS = 2.0
_BACKOFF_FIRST_SECONDS = 2.0
_BACKOFF_MOST_SECONDS = 300.0

DATABASE_AWAY = (OperationalError, InterfaceError, PoolTimeout)
RETRYABLE = (Unavailable, RateLimited, *DATABASE_AWAY)

# What a dead job may have died of that passes by itself.
PASSING = frozenset({Unavailable.code, RateLimited.code, "database"})

_random = secrets.SystemRandom()


def backoff_seconds(failures: int) -> float:
    """Doubles with each failure, up to five minutes; spread by half either way so that jobs which
    failed together do not come back together."""
    delay: float = _BACKOFF_FIRST_SECONDS * 2.0 ** (failures - 1)
    return min(_BACKOFF_MOST_SECONDS, delay) * _random.uniform(0.5, 1.5)


def reason_of(error: Exception) -> tuple[str, str]:
    """What to tell people, and a code. Other errors' texts may quote what was in a chat, so
    they stay out."""
    if isinstance(error, BackreadError):
        return str(error), error.code
    if isinstance(error, DATABASE_AWAY):
        return "The database was busy or could not be reached.", "database"
    name = type(error).__name__
    return f"An error inside Backread ({name}). The worker's log has the details.", "internal"


def reason_of_loss(losses: int) -> str:
    return (
        f"The process that ran this job ended {losses} times before the job got anywhere. It may "
        "need more memory than there is, or one of its files may crash the program that reads it."
    )
