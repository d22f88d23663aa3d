"""Which texts count as secrets. Every key here is invented."""

import random
import string
from collections.abc import Iterable

import pytest

from backread.text.secret_scan import secrets_in

_RANDOM = random.Random(20240305)  # the same keys in every run
_LETTERS = string.ascii_letters + string.digits
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def some(count: int, alphabet: str = _LETTERS) -> str:
    return "".join(_RANDOM.choice(alphabet) for _ in range(count))


def hexadecimal(count: int) -> str:
    return some(count, "0123456789abcdef")


OPENAI = f"sk-proj-{some(74)}T3BlbkFJ{some(74)}"
GITHUB = f"ghp_{some(36)}"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\nMII{some(61)}\n{some(64)}\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    ("OpenAI key", OPENAI),
    ("OpenAI key", f"sk-{some(20)}T3BlbkFJ{some(20)}"),
    ("OpenAI key", f"sk-svcacct-{some(58)}T3BlbkFJ{some(58)}"),
    ("Anthropic key", f"sk-ant-api03-{some(93)}AA"),
    ("OpenRouter key", f"sk-or-v1-{hexadecimal(64)}"),
    ("Groq key", f"gsk_{some(52)}"),
    ("xAI key", f"xai-{some(80)}"),
    ("Perplexity key", f"pplx-{some(48)}"),
    ("Hugging Face token", f"hf_{some(34)}"),
    ("Google API key", f"AIza{some(35)}"),
    ("Google client secret", f"GOCSPX-{some(28)}"),
    ("AWS access key", f"AKIA{some(16, _BASE32)}"),
    ("AWS access key", f"ASIA{some(16, _BASE32)}"),
    ("Azure storage key", f"AccountName=kiln;AccountKey={some(86)}==;EndpointSuffix=x"),
    ("GitHub token", GITHUB),
    ("GitHub token", f"github_pat_{some(22)}_{some(59)}"),
    ("GitLab token", f"glpat-{some(20)}"),
    ("Slack token", f"xoxb-{some(12, '123456789')}-{some(12, '123456789')}-{some(24)}"),
    ("Slack webhook", f"https://hooks.slack.com/services/T{some(8, _BASE32)}/B01234567/{some(24)}"),
    ("Stripe key", f"sk_live_{some(24)}"),
    ("Stripe key", f"rk_live_{some(99)}"),
    ("SendGrid key", f"SG.{some(22)}.{some(43)}"),
    ("npm token", f"npm_{some(36)}"),
    ("PyPI token", f"pypi-AgEIcHlwaS5vcmc{some(120)}"),
    ("DigitalOcean token", f"dop_v1_{hexadecimal(64)}"),
    ("Shopify token", f"shpat_{hexadecimal(32)}"),
    ("Telegram bot token", f"7482910563:AA{some(33)}"),
    ("JSON Web Token", f"eyJhbGciOiJIUzI1NiJ9.eyJ{some(60)}.{some(43)}"),
    ("private key", PEM),
    ("private key", PEM.replace("RSA ", "").replace("\n", "\\n")),
    ("private key", f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: X 2\n\n{some(64)}\n"),
    ("password in an address", f"postgres://shop:{some(14)}@db.kiln.net:5432/shop"),
    ("password in an address", f"redis://:{some(14)}@cache.kiln.net"),
    ("password in an address", f"https://ada:p%40{some(9)}@git.kiln.net/a.git"),
]


@pytest.mark.parametrize(
    ("kind", "secret"), SECRETS, ids=[f"{k} {n}" for n, (k, _) in enumerate(SECRETS)]
)
@pytest.mark.parametrize(
    "around", ["{}", "export KEY='{}'", "My key is {}.", '{{"key": "{}"}}', "ключ {}"]
)
def test_a_secret_in_its_makers_form_is_counted_wherever_it_stands(
    kind: str, secret: str, around: str
) -> None:
    assert secrets_in([around.format(secret)]) == {kind: 1}


LOOKALIKES = [
    ("git hash", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8"),
    ("git hash after a hyphen", f"task-{hexadecimal(40)}"),
    ("UUID", "id 6f1d2c3b-4a5e-4f60-8a7b-9c0d1e2f3a4b"),
    ("SHA-256", f"sha256:{hexadecimal(64)}"),
    ("picture", f"data:image/png;base64,iVBORw0KGgo{some(400, _LETTERS + '+/')}=="),
    ("AWS's own example", "AKIAIOSFODNN7EXAMPLE"),
    ("stand-in of x", f"sk-ant-api03-{'x' * 95}"),
    ("stand-in of zeros", f"ghp_{'0' * 36}"),
    ("counting run", "ghp_1234567890abcdefghijklmnopqrstuvwxyz"),
    ("your key here", f"hf_yourTokenGoesHere{'a' * 17}"),
    ("test key", f"sk_test_{some(24)}"),
    ("too short", f"ghp_{some(20)}"),
    ("too long", f"npm_{some(60)}"),
    ("inside a word", f"desk-{some(20)}"),
    ("name of a variable", "sk-learn, hf_hub_download, npm_config_registry, AKIA, gsk_"),
    ("mention of a private key", "It begins with -----BEGIN RSA PRIVATE KEY----- and ends so."),
    ("public key", f"-----BEGIN PUBLIC KEY-----\n{some(64)}\n-----END PUBLIC KEY-----"),
    ("certificate", f"-----BEGIN CERTIFICATE-----\n{some(64)}\n"),
    (
        "jwt.io's example",
        f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6Ikpv.{some(43)}",
    ),
    ("password as a word", "postgres://user:password@db.kiln.net/app"),
    ("constant as the password", "sb://POLICY_NAME:POLICY_KEY@bus.kiln.net"),
    ("user as the password", "amqp://rabbit:rabbit@mq.kiln.net"),
    ("variable as the password", "postgres://ada:${DB_PASSWORD}@db.kiln.net"),
    ("own machine", f"mongodb://root:{some(12)}@localhost:27017"),
    ("example host", f"https://ada:{some(12)}@www.example.com"),
    ("port and handle", "https://kiln.net:8080/@ada and https://medium.com/@ada:12"),
    ("time", "Meet at 12345678:AAb or so."),
]


@pytest.mark.parametrize(("what", "text"), LOOKALIKES, ids=[what for what, _ in LOOKALIKES])
def test_what_only_looks_like_a_secret_is_not_counted(what: str, text: str) -> None:
    assert secrets_in([text, f"See `{text}` here."]) == {}


def test_the_same_secret_counts_once_and_different_ones_each() -> None:
    texts = [f"first {GITHUB}", f"again {GITHUB}", f"and {OPENAI}", f"other ghp_{some(36)}"]
    assert secrets_in(texts) == {"GitHub token": 2, "OpenAI key": 1}


def test_texts_of_any_size_and_with_broken_characters_are_read() -> None:
    def many() -> Iterable[str]:
        for _ in range(40):
            yield "a \ud800 word " * 10_000
        yield f"last {GITHUB}"

    assert secrets_in(many()) == {"GitHub token": 1}
    assert secrets_in([]) == {}


@pytest.mark.parametrize(
    "piece", ["://", "eyJ", "eyJ.", "-----BEGIN PRIVATE KEY-----\n", "sk-", "://a:"]
)
def test_hostile_repetition_takes_no_longer_than_its_length(piece: str) -> None:
    """The nightly time limit of the suite would end it if it were quadratic."""
    assert secrets_in([piece * 200_000]) == {}
