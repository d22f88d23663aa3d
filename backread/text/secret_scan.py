"""Counts keys, tokens and passwords in texts, so that a person learns which chats hold them.

Only formats that their makers document, by prefix, length and alphabet: what is reported is to be
a secret, and a git hash or a picture in base64 is not. Whatever is clearly a stand-in is left out:
`AKIAIOSFODNN7EXAMPLE`, `sk-ant-api03-xxxxx…`, `postgres://user:password@host`.

A first pass looks for the beginnings of all kinds at once, at more than a gigabyte a second
(Aho-Corasick with SIMD); only where one stands is the exact form checked.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ahocorasick_rs import BytesAhoCorasick, MatchKind

_LEAST_VARIETY = 8  # different characters that a real secret of 16 or more has at least


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of secret: `pattern` matches from the place where one of `beginnings` stands.

    Its group `secret`, or else the whole match, is what must not look like a stand-in.
    """

    name: str
    beginnings: tuple[str, ...]
    pattern: re.Pattern[bytes]


def _kind(name: str, beginnings: str, pattern: str) -> _Kind:
    return _Kind(name, tuple(beginnings.split()), re.compile(pattern.encode()))


_NOT_INSIDE = r"(?<![A-Za-z0-9_-])"  # not in the middle of a longer word
_END = r"(?![A-Za-z0-9_-])"

# Sources: each maker's documentation of its key format, or, where it has none, the rules of
# gitleaks (MIT), https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml.
_KINDS = (
    _kind(
        "OpenAI key",
        "sk-",
        _NOT_INSIDE + r"sk-[A-Za-z0-9_-]{0,80}?[A-Za-z0-9_-]{20}T3BlbkFJ[A-Za-z0-9_-]{20,}",
    ),
    _kind(
        "Anthropic key",
        "sk-ant-",
        _NOT_INSIDE + r"sk-ant-[a-z]{3,5}\d\d-(?P<secret>[A-Za-z0-9_-]{80,120})",
    ),
    _kind("OpenRouter key", "sk-or-v1-", _NOT_INSIDE + r"sk-or-v1-(?P<secret>[0-9a-f]{64})" + _END),
    _kind("Groq key", "gsk_", _NOT_INSIDE + r"gsk_(?P<secret>[A-Za-z0-9]{52})" + _END),
    _kind("xAI key", "xai-", _NOT_INSIDE + r"xai-(?P<secret>[A-Za-z0-9]{80})" + _END),
    _kind("Perplexity key", "pplx-", _NOT_INSIDE + r"pplx-(?P<secret>[A-Za-z0-9]{48})" + _END),
    _kind("Hugging Face token", "hf_", _NOT_INSIDE + r"hf_(?P<secret>[A-Za-z0-9]{34})" + _END),
    _kind("Google API key", "AIza", _NOT_INSIDE + r"AIza(?P<secret>[A-Za-z0-9_-]{35})" + _END),
    _kind("Google client secret", "GOCSPX-", _NOT_INSIDE + r"GOCSPX-(?P<secret>[\w-]{28})" + _END),
    _kind("AWS access key", "AKIA ASIA", _NOT_INSIDE + r"A[KS]IA(?P<secret>[A-Z2-7]{16})" + _END),
    _kind(
        "Azure storage key", "AccountKey=", r"AccountKey=(?P<secret>[A-Za-z0-9+/]{86}==)(?![\w+/=])"
    ),
    _kind(
        "GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        _NOT_INSIDE
        + r"(?:gh[pousr]_(?P<secret>[A-Za-z0-9]{36})|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})"
        + _END,
    ),
    _kind(
        "GitLab token",
        "glpat- gldt- glrt- glptt- gloas-",
        _NOT_INSIDE + r"gl(?:pat|dt|rt|ptt|oas)-(?P<secret>[A-Za-z0-9_-]{20,64})",
    ),
    _kind(
        "Slack token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xapp-",
        _NOT_INSIDE + r"(?:xox[abprs]|xapp)-\d[A-Za-z0-9-]{20,}",
    ),
    _kind(
        "Slack webhook",
        "hooks.slack.com/services/",
        r"hooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/(?P<secret>[A-Za-z0-9]{24})",
    ),
    _kind(
        "Stripe key",
        "sk_live_ rk_live_",
        _NOT_INSIDE + r"[sr]k_live_(?P<secret>[A-Za-z0-9]{24,120})" + _END,
    ),
    _kind("SendGrid key", "SG.", _NOT_INSIDE + r"SG\.[\w-]{22}\.(?P<secret>[\w-]{43})" + _END),
    _kind("npm token", "npm_", _NOT_INSIDE + r"npm_(?P<secret>[A-Za-z0-9]{36})" + _END),
    _kind("PyPI token", "pypi-AgE", _NOT_INSIDE + r"pypi-AgE(?P<secret>[A-Za-z0-9_-]{50,})"),
    _kind(
        "DigitalOcean token",
        "dop_v1_ doo_v1_ dor_v1_",
        _NOT_INSIDE + r"do[opr]_v1_(?P<secret>[0-9a-f]{64})" + _END,
    ),
    _kind("Shopify token", "shpat_", _NOT_INSIDE + r"shpat_(?P<secret>[0-9a-fA-F]{32})" + _END),
    _kind(
        "Telegram bot token",
        ":AA",
        r"(?<=[0-9]{8}):AA(?P<secret>[A-Za-z0-9_-]{33})" + _END,
    ),
    _kind(
        "JSON Web Token",
        "eyJ",
        _NOT_INSIDE + r"eyJ[\w-]{10,}\.eyJ(?P<secret>[\w-]{10,}\.[\w-]{20,})",
    ),
    _kind(
        "private key",
        "-----BEGIN",
        # With its content: the line alone stands in every second answer about certificates.
        r"-----BEGIN (?:[A-Z0-9]+ ){0,2}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[ \t>]|[\r\n]|\\r|\\n){1,20}[A-Za-z-]{3,20}: [^\r\n\\]{0,200}){0,4}"
        r"(?:[ \t>]|[\r\n]|\\r|\\n){1,20}(?P<secret>[A-Za-z0-9+/]{40,})",
    ),
    _kind(
        "password in an address",
        "://",
        r"://(?P<user>[^\s/:@'\"<>`]{0,64}):(?P<secret>[^\s/:@'\"<>`]{4,128})@(?P<host>[\w.-]+)",
    ),
)

# Longer ones first: of two that begin alike the first pass reports the earlier in the list.
_BEGINNINGS = sorted(
    {each for kind in _KINDS for each in kind.beginnings}, key=lambda b: (-len(b), b)
)
_KINDS_OF = tuple(
    tuple(kind for kind in _KINDS if any(each.startswith(own) for own in kind.beginnings))
    for each in _BEGINNINGS
)
_FIRST_PASS = BytesAhoCorasick(
    [each.encode() for each in _BEGINNINGS],
    matchkind=MatchKind.LeftmostFirst,  # the kind that has a search by SIMD
)

_STAND_IN = re.compile(
    rb"example|your|xxxx|\*\*\*|\.\.\.|placeholder|redacted|dummy|0000000|1234567|abcdefg|changeme",
    re.IGNORECASE,
)
# As the maker of the format prints it on its own page.
_KNOWN_EXAMPLES = (b"zdWIiOiIxMjM0NTY3ODkwIi",)
_STAND_IN_PASSWORD = re.compile(
    rb"(?:my|db|the|new|old|some|super)?[-_]?(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|"
    rb"api[-_]?key|key|user(?:name)?|login|test|root|admin|postgres|mysql|guest|tiger|hunter2)[-_]?\d{0,4}",
    re.IGNORECASE,
)
_VARIABLE = re.compile(rb"[${}()\[\]]|%[(s]|^[A-Z]+(?:_[A-Z]+)+$")
_OWN_HOST = re.compile(rb"localhost|127\.0\.0\.1|0\.0\.0\.0|(?:.*\.)?example\.\w+|host(?:name)?")


def secrets_in(texts: Iterable[str]) -> dict[str, int]:
    """How many different secrets of each kind the texts hold together, by the kind's name."""
    found: set[tuple[str, bytes]] = set()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        for number, start, _ in _FIRST_PASS.find_matches_as_indexes(data):
            for kind in _KINDS_OF[number]:
                match = kind.pattern.match(data, start)
                if match is not None and not _is_stand_in(kind, match):
                    found.add((kind.name, match.group()))
    return dict(Counter(name for name, _ in sorted(found)))


def _is_stand_in(kind: _Kind, match: re.Match[bytes]) -> bool:
    """Whether it only has the form of a secret: an example, a placeholder, a variable."""
    groups = match.groupdict()
    secret = groups.get("secret") or match.group()
    if "host" in groups:
        return _is_harmless_login(groups["user"], secret, groups["host"])
    if _STAND_IN.search(secret) or any(each in secret for each in _KNOWN_EXAMPLES):
        return True
    return len(set(secret)) < _LEAST_VARIETY


def _is_harmless_login(user: bytes, password: bytes, host: bytes) -> bool:
    return (
        password == user
        or _STAND_IN_PASSWORD.fullmatch(password) is not None
        or _STAND_IN.search(password) is not None
        or _VARIABLE.search(password) is not None
        or len(set(password)) < len(password) / 3
        or _OWN_HOST.fullmatch(host) is not None
    )
