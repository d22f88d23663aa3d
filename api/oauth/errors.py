"""Errors of the OAuth endpoints, in the shapes their RFCs give."""

from starlette.responses import JSONResponse

NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class OAuthError(Exception):
    """`code` is the registered error code, `description` says what to change."""

    def __init__(self, code: str, description: str, *, status: int = 400) -> None:
        super().__init__(f"{code}: {description}")
        self.code = code
        self.description = description
        self.status = status

    def response(self) -> JSONResponse:
        """RFC 6749 §5.2 (token), RFC 7591 §3.2.2 (registration), RFC 7009 §2.2.1."""
        headers = dict(NO_STORE)
        if self.status == 401:
            headers["WWW-Authenticate"] = 'Basic realm="backread"'
        if self.status == 429:
            headers["Retry-After"] = "60"
        return JSONResponse(
            {"error": self.code, "error_description": self.description},
            status_code=self.status,
            headers=headers,
        )


def invalid_client(description: str) -> OAuthError:
    """401, which is what makes clients drop a registration that we do not know and register
    again; with 400 they keep it and stay locked out."""
    return OAuthError("invalid_client", description, status=401)


class AuthorizePageError(Exception):
    """An authorization request that must not be answered with a redirect, because where to is
    what is in doubt (RFC 6749 §4.1.2.1). Shown to the person as a page."""

    def __init__(self, message: str, *, hint: str, code: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
