"""What a resource is: something a client can read by its address, or attach to a conversation."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from backread.domain import Principal, Scope
from backread.kernel import Kernel

MARKDOWN, JSON = "text/markdown", "application/json"
_VARIABLE = re.compile(r"\\\{([a-z_]+)\\\}")


@dataclass(frozen=True, slots=True)
class Listed:
    """One resource as lists show it."""

    uri: str
    name: str
    title: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Resources of one kind; `next` is where to go on, empty at the end."""

    items: Sequence[Listed]
    next: str = ""


T = TypeVar("T")


def page_from(found: Sequence[T], after: str, limit: int, listed: Callable[[T], Listed]) -> Page:
    """The page of a list that was read whole; `after` is the place where it begins."""
    start = int(after) if after.isdigit() and len(after) < 9 else 0
    more = start + limit
    items = [listed(each) for each in found[start:more]]
    return Page(items, str(more) if more < len(found) else "")


# (kernel, principal, values of the address's variables) -> the text
Read = Callable[[Kernel, Principal, Mapping[str, str]], str]
# (kernel, principal, where to go on, how many) -> a page
ListPage = Callable[[Kernel, Principal, str, int], Page]
# (kernel, principal, variable, typed so far, values of other variables) -> values
Suggest = Callable[[Kernel, Principal, str, str, Mapping[str, str]], Sequence[str]]


@dataclass(frozen=True)
class ResourceKind:
    """A kind of resource. `address` may hold variables in braces; one without any is a single
    resource, and is listed by itself. `read` and `list_page` are called in a thread."""

    name: str
    title: str
    description: str
    address: str
    scope: Scope
    read: Read
    mime_type: str = MARKDOWN
    list_page: ListPage | None = None
    suggest: Suggest | None = None

    @property
    def is_template(self) -> bool:
        return "{" in self.address

    def match(self, uri: str) -> Mapping[str, str] | None:
        """The values of the variables; None for an address of another kind."""
        found = self._pattern.fullmatch(uri)
        return found.groupdict() if found else None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(_VARIABLE.sub(r"(?P<\1>[^/?#]{1,200})", re.escape(self.address)))
