"""Password hashing with Argon2id. Slow on purpose: call it off the event loop.

OWASP's password storage advice: at least 19 MiB and two passes.
"""

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from backread.crypto import new_token
from backread.errors import InvalidInput

MIN_LENGTH = 10
MAX_LENGTH = 1024
_MEMORY_KIB = 19 * 1024
_PASSES = 2

_hasher = PasswordHasher(time_cost=_PASSES, memory_cost=_MEMORY_KIB, parallelism=1)
# Checked when there is no such account, so that the answer takes as long as for a wrong password.
_NOBODY = _hasher.hash(new_token())


def hash_password(password: str) -> str:
    """Raises InvalidInput when the password is too short, too long or one repeated character."""
    if len(password) < MIN_LENGTH:
        raise InvalidInput(
            f"The password has {len(password)} characters; it needs at least {MIN_LENGTH}.",
            hint="A few words in a row are easy to remember and hard to guess.",
        )
    if len(password) > MAX_LENGTH:
        raise InvalidInput(f"The password is longer than {MAX_LENGTH} characters.")
    if len(set(password)) < 3:
        raise InvalidInput(
            "The password repeats almost a single character.", hint="Choose another one."
        )
    return _hasher.hash(password)


def verify_password(password_hash: str | None, password: str) -> bool:
    """Whether the password is right. None, for no such account, takes the same time."""
    try:
        matches = _hasher.verify(password_hash or _NOBODY, password[: MAX_LENGTH + 1])
    except (VerificationError, InvalidHashError):
        return False
    return matches and bool(password_hash)


def needs_rehash(password_hash: str) -> bool:
    """Whether the hash was made with weaker parameters than today's."""
    return _hasher.check_needs_rehash(password_hash)
