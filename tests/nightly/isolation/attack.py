"""Requests of one account that aim at another's, and what no answer may show."""

import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import httpx2
from fastapi import FastAPI
from sqlalchemy import select
from starlette.testclient import TestClient

from api.exports import ExportDoor
from api.oauth.resources import FOLDER_PATH
from backread.kernel import Kernel
from backread.store.models import Note
from tests.nightly.isolation.doors import Door, tool_doors, web_doors
from tests.nightly.isolation.tenants import Tenant, belongings, in_archive, page_headers
from tests.nightly.isolation.values import RAW, VERY_ODD, Choice, Chooser

_LONGEST_IN_ADDRESS = 4_000  # the client refuses to send more than 64 kB
_LOOKS, _LOOKS_FOR_CURSORS = 300, 4
_NOT_FOR_MEMBERS = ("/exports/", "/settings/people", "/settings/search-index")
_ID = re.compile(r"(?<![0-9a-z])[0-9a-z]{26}(?![0-9a-z])")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ][0-9:.]+(Z|\+00:00)?")


@dataclass
class Findings:
    """What went wrong, a line each, and what was asked."""

    leaks: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def problems(self) -> list[str]:
        return [*self.leaks, *self.differences, *self.failures]


class Attack:
    """Sends generated requests over one application. `attackers` ask, `victims` own."""

    def __init__(
        self,
        browser: TestClient,
        kernel: Kernel,
        attackers: list[Tenant],
        victims: list[Tenant],
        seed: int,
    ) -> None:
        assert isinstance(browser.app, FastAPI)
        self._app = browser.app
        self._browser = browser
        self._kernel = kernel
        self._attackers = attackers
        self._victims = victims
        self._dice = random.Random(seed)
        self.doors = [*web_doors(self._app), *tool_doors(kernel.settings)]
        self.findings = Findings()
        everybody = [*attackers, *victims]
        self._ids_of = {
            each.account_id: {
                value
                for table, some in each.ids.items()
                for value in some
                if len(value) == 26 and table != "team_items"
            }
            for each in everybody
        }
        self._secrets = {each.account_id: each.secret.encode() for each in everybody}

    def look_around(self) -> dict[str, bool]:
        """Every door, as one of its victims sees it with ids of its own; whether it opened. Notes
        the cursors that lists give."""
        opened = {}
        for door in self.doors:
            if not door.is_read_only or door.path.startswith(_NOT_FOR_MEMBERS):
                continue
            opened[door.title] = False
            victim = self._victims[0]
            for attempt in range(_LOOKS):
                if opened[door.title] and attempt >= _LOOKS_FOR_CURSORS:
                    break
                own = Chooser(self._dice, victim, victim)
                chosen = {
                    each.name: choice
                    for each in door.fields
                    if (each.where == "path" or self._dice.random() < 0.5)
                    and (choice := own.choose(door, each, aimed=True))
                }
                answer = self._send(door, victim, chosen, lambda choice: choice.foreign, rest=False)
                self._note_cursors(victim, answer.text)
                opened[door.title] |= self._opened(answer)
        return opened

    def run(self, count: int, *, rounds_aimed: int = 1) -> Findings:
        """`count` requests and more: each door is aimed at first, then doors are drawn."""
        for _ in range(rounds_aimed):
            for door in self.doors:
                self._twice(door, aimed=True)
        while sum(self.findings.asked.values()) < count:
            self._twice(self._dice.choice(self.doors), aimed=False)
        return self.findings

    def send_odd(self, own: Tenant, *, every: bool) -> None:
        """To each door something odd in one value after the other, beside values of its own that
        are right; then bodies that are no sensible ones at all. `every`: all that is odd, and not
        one thing for each value."""
        chooser = Chooser(self._dice, own, own)
        odd = itertools.cycle(VERY_ODD)
        for door in self.doors:
            for each in door.fields:
                for value in VERY_ODD if every else [next(odd)]:
                    chosen = {
                        other.name: choice
                        for other in door.fields
                        if (choice := chooser.choose(door, other, aimed=True))
                    }
                    chosen[each.name] = Choice(value, value)
                    answer = self._send(
                        door, own, chosen, lambda choice: choice.foreign, rest=False
                    )
                    self._judge(door, own, chosen, answer)
            if door.method not in {"GET", "HEAD"} or door.kind == "tool":
                self._send_raw(door, own, chooser)

    def _send_raw(self, door: Door, own: Tenant, chooser: Chooser) -> None:
        path = door.path
        for each in door.fields:
            if each.where == "path" and (choice := chooser.choose(door, each, aimed=True)):
                text = quote(str(choice.foreign))
                path = _put(path, each.name, text)
        headers = page_headers(own)
        if door.kind == "tool":
            token = own.folder_key if door.path == FOLDER_PATH else own.token
            headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        content_type, content = self._dice.choice(RAW)
        answer = self._browser.request(
            "POST" if door.kind == "tool" else door.method,
            path,
            content=content,
            headers={**headers, "Content-Type": content_type},
        )
        sent = {"body": Choice(content_type, content[:60])}
        self._judge(door, own, sent, answer)

    def changed(self, before: dict[str, dict[str, str]]) -> list[str]:
        """Tables of victims that are not as they were."""
        return [
            f"{table} of a victim changed"
            for victim in self._victims
            for table, rows in belongings(self._kernel, victim.account_id).items()
            if rows != before[victim.account_id][table]
        ]

    def _twice(self, door: Door, *, aimed: bool) -> None:
        """With an id of the victim, and with one that nobody has: the answers must be alike."""
        own, victim = self._dice.choice(self._attackers), self._dice.choice(self._victims)
        chooser = Chooser(self._dice, own, victim)
        chosen = {}
        for each in door.fields:
            choice = chooser.choose(door, each, aimed=aimed)
            if choice is not None:
                chosen[each.name] = choice
            elif each.where == "path":
                return
        rest = door.kind == "rest" and self._dice.random() < 0.5
        has_one_itself = self._has_such_a_note(own, chosen)
        pick: Callable[[Choice], Any] = lambda choice: choice.foreign  # noqa: E731
        foreign = self._send(door, own, chosen, pick, rest=rest)
        self._judge(door, own, chosen, foreign)
        if not any(choice.is_foreign for choice in chosen.values()):
            return
        missing = self._send(door, own, chosen, lambda choice: choice.missing, rest=rest)
        self._judge(door, own, chosen, missing)
        if not has_one_itself:
            self._compare(door, chosen, foreign, missing)

    def _has_such_a_note(self, own: Tenant, chosen: dict[str, Choice]) -> bool:
        """Notes are called by paths that people choose, and an earlier request may have made one
        of the victim's path in the attacker's own account: that one is found, and rightly."""
        paths = [each.foreign for each in chosen.values() if isinstance(each.foreign, str)]
        query = select(Note.id).where(Note.account_id == own.account_id, Note.path.in_(paths))
        with self._kernel.store.read() as session:
            return session.scalar(query.limit(1)) is not None

    def _judge(
        self, door: Door, own: Tenant, chosen: dict[str, Choice], answer: httpx2.Response
    ) -> None:
        self.findings.asked[door.title] += 1
        self.findings.statuses[answer.status_code] += 1
        if answer.status_code >= 400 and not answer.text and door.method != "HEAD":
            self.findings.failures.append(f"no words: {door.title} -> {answer.status_code}")
        told = in_archive(answer.content).lower() + repr(answer.headers).lower().encode()
        sent = str([(each.foreign, each.missing) for each in chosen.values()])
        where = f"{door.title} {sent[:300]} -> {answer.status_code}"
        if answer.status_code >= 500 or b"something went wrong" in told or b'"code":-32603' in told:
            self.findings.failures.append(f"broken: {where} {answer.text[:300]}")
        for account_id, secret in self._secrets.items():
            if account_id == own.account_id:
                continue
            if secret in told:
                at = told.index(secret)
                self.findings.leaks.append(f"leak: {where} …{told[max(0, at - 80) : at + 40]!r}")
            named = set(_ID.findall(told.decode("utf-8", "replace"))) & self._ids_of[account_id]
            if unasked := {each for each in named if each not in sent}:
                self.findings.leaks.append(f"ids: {where} {sorted(unasked)[:3]}")

    def _compare(
        self,
        door: Door,
        chosen: dict[str, Choice],
        foreign: httpx2.Response,
        missing: httpx2.Response,
    ) -> None:
        if 429 in {foreign.status_code, missing.status_code}:
            return
        sent = str({name: each.foreign for name, each in chosen.items()})
        if foreign.status_code != missing.status_code:
            # What was made by the first is there for the second.
            if door.is_read_only or foreign.status_code >= 300:
                self.findings.differences.append(
                    f"status: {door.title} {sent[:300]} {foreign.status_code} for another's, "
                    f"{missing.status_code} for a missing one"
                )
            return
        if (
            not door.is_read_only
            and foreign.status_code < 300
            and '"isError":true' not in foreign.text
        ):
            return
        one = _plain(foreign, [each.foreign for each in chosen.values()])
        other = _plain(missing, [each.missing for each in chosen.values()])
        if one != other:
            at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
            self.findings.differences.append(
                f"body: {door.title} {sent[:300]} …{one[max(0, at - 60) : at + 60]!r} against "
                f"{other[max(0, at - 60) : at + 60]!r}"
            )

    def _send(
        self,
        door: Door,
        own: Tenant,
        chosen: dict[str, Choice],
        pick: Callable[[Choice], Any],
        *,
        rest: bool,
    ) -> httpx2.Response:
        values = {name: pick(choice) for name, choice in chosen.items()}
        self._browser.cookies.clear()
        if door.kind in {"tool", "resource", "prompt"}:
            return self._rpc(door, own, values)
        self._app.state.export_door = ExportDoor()
        headers = page_headers(own)
        if rest:
            headers = {"Authorization": f"Bearer {own.token}", "Accept": "application/json"}
        path = door.path
        query: list[tuple[str, str]] = []
        form: list[tuple[str, str]] = []
        body: dict[str, Any] = {}
        for each in door.fields:
            if each.name not in values:
                continue
            value = values[each.name]
            if each.where == "path":
                safe = "/" if "{" + each.name + ":path}" in path else ""
                shown = _text(value)[:_LONGEST_IN_ADDRESS]
                text = quote(shown, safe=safe, errors="surrogatepass")
                path = _put(path, each.name, text)
            elif each.where == "query":
                query += [(each.name, _text(one)) for one in _listed(value)]
            elif each.where == "form":
                form += [(each.name, _text(one)) for one in _listed(value)]
            else:
                body[each.name] = value
        content = b""
        if body:
            content = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        elif form:
            content = _encoded(form).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if "/uploads" in path:
            headers["Tus-Resumable"] = "1.0.0"
        # What a client would tidy away is sent as it is.
        path = path.replace("/./", "/%2e/").replace("/../", "/%2e%2e/")
        encoded = _encoded([(name, text[:_LONGEST_IN_ADDRESS]) for name, text in query[:50]])
        address = f"{path or '/'}?{encoded}" if query else path or "/"
        return self._browser.request(door.method, address, headers=headers, content=content)

    def _rpc(self, door: Door, own: Tenant, values: dict[str, Any]) -> httpx2.Response:
        if door.kind == "tool":
            method, params = "tools/call", {"name": door.name, "arguments": values}
        elif door.kind == "prompt":
            texts = {name: _text(value) for name, value in values.items()}
            method, params = "prompts/get", {"name": door.name, "arguments": texts}
        else:
            uri = door.name
            for name, value in values.items():
                uri = uri.replace(
                    "{" + name + "}", quote(_text(value), safe="", errors="surrogatepass")
                )
            method, params = "resources/read", {"uri": uri}
        token = own.folder_key if door.path == FOLDER_PATH else own.token
        return self._browser.post(
            door.path,
            content=json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}),
            headers={
                "Authorization": f"Bearer {token}",
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
            },
        )

    @staticmethod
    def _opened(answer: httpx2.Response) -> bool:
        if answer.status_code >= 300:
            return False
        return '"isError":true' not in answer.text and '"error":{' not in answer.text

    @staticmethod
    def _note_cursors(tenant: Tenant, text: str) -> None:
        found = re.findall(r'"next(?:_?[cC]ursor)?\\?":\s*\\?"([^"\\]{1,400})', text)
        found += re.findall(r"[?&;](?:cursor|after)=([^\"&]{1,400})", text)
        tenant.cursors = list(dict.fromkeys([*tenant.cursors, *found]))


def _listed(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value
    else:
        yield value


def _encoded(pairs: list[tuple[str, str]]) -> str:
    return urlencode(pairs, errors="surrogatepass")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _plain(answer: httpx2.Response, values: list[Any]) -> str:
    """The body without what was sent, when it was answered, and the request's own number."""
    text = answer.text
    sent = [
        str(one.get("id") if isinstance(one, dict) else one)
        for value in values
        for one in _listed(value)
    ]
    for each in sent:
        if len(each) <= 3:  # a number that pages hold elsewhere too, but not as a step of a path
            text = text.replace(f"/{each}/", "/?/")
            continue
        for spelled in (each, quote(each), quote(each, safe="")):
            text = text.replace(spelled, "?")
    for folder in (part for each in sent for part in each.split("/")[:-1]):
        if len(folder) > 3:  # which pages show one by one
            text = text.replace(folder, "?")
    for header in ("x-request-id",):
        if mark := answer.headers.get(header):
            text = text.replace(mark, "?")
    return _TIME.sub("?", text)


def _put(path: str, name: str, text: str) -> str:
    """The path with the text in the place of the parameter."""
    return path.replace("{" + name + ":path}", text).replace("{" + name + "}", text)
