"""What can go wrong, by meaning. How each looks over HTTP and MCP is `api/errors.py`'s business.

BackreadError
├── InvalidInput            the caller can fix the request
│   ├── UnreadableImport    a file cannot be imported; says what it looks like
│   └── LimitExceeded       larger, longer or more than a limit allows
├── NotFound                no such thing, or not this account's (the two are not told apart)
├── Conflict                the thing changed meanwhile, or exists already
├── AccessDenied            signed in, but not allowed
│   └── InsufficientScope   the grant lacks a scope
├── NotAuthenticated        no valid credentials
├── RateLimited             too many tries; carries when to try again
└── Unavailable             a part we need is down; retrying later may work
"""


class BackreadError(Exception):
    """Base of all errors that carry a message for the person who caused or met them.

    `message` says what happened; `hint` says what to do about it, and may be empty.
    """

    code = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidInput(BackreadError):
    code = "invalid_input"


class UnreadableImport(InvalidInput):
    code = "unreadable_import"


class LimitExceeded(InvalidInput):
    code = "limit_exceeded"


class NotFound(BackreadError):
    code = "not_found"


class Conflict(BackreadError):
    code = "conflict"


class AccessDenied(BackreadError):
    code = "access_denied"


class InsufficientScope(AccessDenied):
    code = "insufficient_scope"

    def __init__(self, required: frozenset[str], *, hint: str = "") -> None:
        super().__init__(
            "This connection was not given the permission that the call needs.",
            hint=hint or f"Reconnect and allow: {' '.join(sorted(required))}.",
        )
        self.required = required


class NotAuthenticated(BackreadError):
    code = "not_authenticated"


class RateLimited(BackreadError):
    code = "rate_limited"

    def __init__(self, message: str, *, retry_after_seconds: int, hint: str = "") -> None:
        super().__init__(message, hint=hint or f"Try again in {retry_after_seconds} seconds.")
        self.retry_after_seconds = retry_after_seconds


class Unavailable(BackreadError):
    code = "unavailable"
