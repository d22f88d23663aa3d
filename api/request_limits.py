"""How often somebody may ask, and the headers that tell them (draft-ietf-httpapi-ratelimit-headers,
https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/)."""

import math

from api.token_buckets import TokenBuckets
from backread.domain import Principal
from backread.errors import RateLimited

STATE = "rate_limit_headers"  # where a refusal finds them on the request
_WINDOW_SECONDS = 60


class RequestLimit:
    """So many requests a minute for each person and client, in one process."""

    def __init__(self, name: str, per_minute: int) -> None:
        self._name = name
        self._per_minute = per_minute
        self._buckets = TokenBuckets(per_minute, _WINDOW_SECONDS / per_minute)

    def take(self, principal: Principal) -> tuple[dict[str, str], RateLimited | None]:
        """The headers of the answer, and the refusal when there is no request left."""
        key = f"{principal.account_id} {principal.client_id}"
        wait = self._buckets.take(key)
        left = self._buckets.left(key)
        refill = math.ceil((self._per_minute - left) * _WINDOW_SECONDS / self._per_minute)
        headers = {
            "RateLimit-Policy": f'"{self._name}";q={self._per_minute};w={_WINDOW_SECONDS}',
            "RateLimit": f'"{self._name}";r={int(left)};t={refill}',
        }
        if not wait:
            return headers, None
        return headers, RateLimited("Too many requests at once.", retry_after_seconds=wait)
