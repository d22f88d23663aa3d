"""Front matter: YAML between two `---` lines at the top of a Markdown file.

The YAML text is what is kept, so comments, order and quoting of somebody's own file survive; the
map that programs see is read from it. Only what JSON can say is a front matter: no tags, no
anchors and no aliases, which also leaves nothing to build a YAML bomb of. Times stay the texts
that were written.
"""

import io
import math
import re
import unicodedata
from typing import Any

import orjson
from ruamel.yaml import YAML
from ruamel.yaml.composer import ComposerError
from ruamel.yaml.constructor import ConstructorError, SafeConstructor
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent

from backread.errors import InvalidInput, LimitExceeded

MAX_CHARACTERS = 65_536
MAX_DEPTH = 20
MAX_VALUES = 5_000
_WIDTH = 4_096  # characters, so that values are not folded
_MOST_DIGITS = 300  # of a number: longer ones take long to read

_BLOCK = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_LONG_NUMBER = re.compile(f"[0-9_]{{{_MOST_DIGITS}}}")

_UNPLAIN = re.compile(r"[^\x20-\x7e]")

Frontmatter = dict[str, Any]


class _Constructor(SafeConstructor):
    """Times are not made into Python's: their texts say more."""


_Constructor.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)
_Constructor.add_constructor("tag:yaml.org,2002:binary", SafeConstructor.construct_undefined)
_Constructor.add_constructor("tag:yaml.org,2002:set", SafeConstructor.construct_undefined)
_Constructor.add_constructor("tag:yaml.org,2002:omap", SafeConstructor.construct_undefined)


def split(text: str) -> tuple[str | None, str, str]:
    """A file's text as front matter (None without one, or with an empty one), body, and what is
    wrong with a block that could not be read and is therefore a part of the body."""
    found = _BLOCK.match(text)
    if found is None:
        return None, text, ""
    front = found[1]
    try:
        read(front)
    except InvalidInput as error:
        return None, text, error.message
    return front or None, text[found.end() :], ""


def join(front: str | None, body: str) -> str:
    """The file's text; `split` gives the two back."""
    if not front:
        if split(body) == (None, body, "") or split(body)[2]:
            return body
        front = ""  # an empty block says that what follows is none
    elif not front.endswith("\n"):
        front += "\n"
    return f"---\n{front}---\n{body}"


def read(front: str | None) -> Frontmatter:
    """The map that the YAML holds. Raises InvalidInput for what is no such map, or too large."""
    if front is None or not front.strip():
        return {}
    if len(front) > MAX_CHARACTERS:
        raise LimitExceeded(
            f"The front matter is longer than {MAX_CHARACTERS} characters.",
            hint="Move text into the body.",
        )
    if re.search(r"^---[ \t]*\r?$", front, re.MULTILINE):
        raise InvalidInput("The front matter has a line of three dashes.")
    _check_events(front)
    try:
        value = _reader().load(front)
    except (YAMLError, ValueError, RecursionError, OverflowError) as error:
        raise _unreadable(error) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidInput("The front matter is not a map of keys to values.")
    return checked(value)


def write(values: Frontmatter) -> str | None:
    """The map as YAML text, None for an empty one. `read` gives the same map back. Raises
    InvalidInput for what JSON has no form for."""
    if not values:
        return None
    values = checked(values)
    text = _dumped(values)
    if text is None or len(text) > MAX_CHARACTERS or _read_or_none(text) != values:
        # JSON is YAML, too, and leaves nothing to how a plain word is understood.
        text = _UNPLAIN.sub(_escaped, orjson.dumps(values).decode()) + "\n"
        if read(text) != values:
            raise InvalidInput("The front matter holds a value that YAML cannot keep.")
    return text


def merge(front: str | None, changes: Frontmatter) -> str | None:
    """The text with top-level keys added or replaced; comments and all other keys stay as they
    are written."""
    if not changes:
        return front
    changes = checked(changes)
    wanted = read(front) | changes
    if front is None or not front.strip():
        return write(wanted)
    text = _merged(front, changes)
    return text if text is not None and _read_or_none(text) == wanted else write(wanted)


def checked(values: Frontmatter) -> Frontmatter:
    """The map with text keys. Raises InvalidInput for values that JSON has no form for, control
    characters, or too many or too deep values."""
    budget = [MAX_VALUES]
    result = _checked(values, MAX_DEPTH, budget)
    assert isinstance(result, dict)
    return result


def _checked(value: Any, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    if depth < 0 or budget[0] < 0:
        raise LimitExceeded(
            f"The front matter has more than {MAX_VALUES} values or is nested deeper than "
            f"{MAX_DEPTH}.",
            hint="Move some of it into the body.",
        )
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) >= 2**63:
            raise InvalidInput("The front matter has a number of more than 64 bits.")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput("The front matter has a number that is not finite.")
        return float(value)
    if isinstance(value, str):
        return _checked_text(value)
    if isinstance(value, list):
        return [_checked(each, depth - 1, budget) for each in value]
    if isinstance(value, dict):
        result = {_key(key): _checked(each, depth - 1, budget) for key, each in value.items()}
        if len(result) != len(value):
            raise InvalidInput("The front matter has one key twice, as a word and as a number.")
        return result
    raise InvalidInput(f"The front matter has a value of the kind {type(value).__name__}.")


def _checked_text(text: str) -> str:
    for each in text:
        if unicodedata.category(each) == "Cs" or (each < " " and each not in "\t\n\r"):
            raise InvalidInput("The front matter has a control character or half a character.")
    return str(text)


def _key(key: Any) -> str:
    if isinstance(key, str):
        return _checked_text(key)
    if key is None or isinstance(key, bool | int | float):
        return orjson.dumps(key).decode()
    raise InvalidInput("The front matter has a key that is not a word.")


def _check_events(front: str) -> None:
    """Before anything is built of them: aliases repeat what they name, tags name types."""
    if _LONG_NUMBER.search(front):
        raise InvalidInput("The front matter has a number of too many digits.")
    depth = count = 0
    try:
        for event in _reader().parse(front):
            count += 1
            depth += isinstance(event, CollectionStartEvent)
            depth -= isinstance(event, CollectionEndEvent)
            if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
                raise InvalidInput("The front matter uses anchors or aliases.")
            if getattr(event, "tag", None):
                raise InvalidInput("The front matter uses type tags.")
            if depth > MAX_DEPTH or count > 4 * MAX_VALUES:
                raise LimitExceeded("The front matter is too deep or has too many values.")
    except (YAMLError, ValueError, RecursionError) as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> InvalidInput:
    mark = getattr(error, "problem_mark", None)
    where = f" in its line {mark.line + 1}" if mark is not None else ""
    what = getattr(error, "problem", None) if isinstance(error, YAMLError) else None
    kind = "is not YAML" if not isinstance(error, ConstructorError | ComposerError) else "is odd"
    return InvalidInput(f"The front matter {kind}{where}{f': {what}' if what else ''}.")


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _reader() -> YAML:
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Constructor
    return yaml


def _writer() -> YAML:
    yaml = YAML(typ="rt", pure=True)
    yaml.preserve_quotes = True
    yaml.width = _WIDTH
    yaml.allow_unicode = True
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.representer.ignore_aliases = lambda _data: True
    return yaml


def _dumped(values: Any) -> str | None:
    target = io.StringIO()
    try:
        _writer().dump(values, target)
    except (YAMLError, ValueError, RecursionError):
        return None
    return target.getvalue()


def _merged(front: str, changes: Frontmatter) -> str | None:
    try:
        written = _writer().load(front)
        written.update(changes)
    except (YAMLError, ValueError, AttributeError, RecursionError):
        return None
    return _dumped(written)


def _read_or_none(text: str) -> Frontmatter | None:
    try:
        return read(text)
    except InvalidInput:
        return None
