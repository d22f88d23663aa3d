"""Reading the form bodies and queries of OAuth requests strictly."""

from collections import Counter
from collections.abc import Iterable
from urllib.parse import parse_qsl

from starlette.requests import Request

from api.oauth.errors import OAuthError

_MAX_FIELDS = 60


class Params:
    """Parameters of one request. Repeated ones are an error (RFC 6749 §3.1, §3.2), except
    `resource` (RFC 8707 §2). Empty values count as absent (RFC 6749 §3.1)."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self.pairs = [(name, value) for name, value in pairs if value]
        counts = Counter(name for name, _ in self.pairs)
        self.repeated = sorted(name for name in counts if counts[name] > 1 and name != "resource")

    def get(self, name: str) -> str | None:
        return next((value for key, value in self.pairs if key == name), None)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.pairs if key == name]

    def check_repeated(self) -> None:
        """Raises OAuthError `invalid_request`."""
        if self.repeated:
            raise OAuthError(
                "invalid_request", f"the parameter {self.repeated[0][:40]!r} was sent twice"
            )


async def form_params(request: Request) -> Params:
    """The parameters of a URL-encoded body, the only kind that RFC 6749 §4.1.3 knows.

    Raises OAuthError `invalid_request` for another content type or an unreadable body.
    """
    content_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if content_type != "application/x-www-form-urlencoded":
        raise OAuthError(
            "invalid_request", "send the parameters as application/x-www-form-urlencoded"
        )
    body = await request.body()
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            max_num_fields=_MAX_FIELDS,
            errors="strict",
        )
    except ValueError as error:
        raise OAuthError("invalid_request", "the body is not URL-encoded text") from error
    return Params(pairs)
