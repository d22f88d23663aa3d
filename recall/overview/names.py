"""People, projects and tools that somebody names in what they write.

By cues around a name, and for tools by a list of well-known ones, because nothing here knows a
language's grammar. A name counts for something only later, when it recurs in several chats.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from recall.grouping.phrases import common_words

PERSON, PROJECT, TOOL = "person", "project", "tool"

_NAME = r"[A-ZÀ-ÖØ-ÞА-ЯЁ][\w’'-]{1,24}"
_FULL_NAME = rf"({_NAME}(?:\s+{_NAME})?)"
_RELATION = (
    "wife husband partner boss manager colleague coworker co-worker teammate friend brother sister "
    "son daughter mother mum mom father dad aunt uncle cousin niece nephew grandmother grandma "
    "grandfather grandpa girlfriend boyfriend fiancée? roommate flatmate neighbou?r landlord tutor "
    "teacher mentor client supervisor assistant intern trainer coach "
    "Frau Mann Partnerin Chefin Chef Kollegin Kollegen? Freundin Freund Bruder Schwester Sohn "
    "Tochter Mutter Vater Tante Onkel Nachbarin Nachbar Lehrerin Lehrer Kundin Kunde "
    "femme mari collègue amie? frère sœur fils fille mère père tante oncle voisine? professeure? "
    "esposa marido jefe jefa colega amigo amiga hermano hermana hijo hija madre padre vecina? "
    "moglie marito collega amico amica fratello sorella figlio figlia"
).replace(" ", "|")
_OWN = (
    "my|our|mein|meine[mrn]?|unsere?[mrn]?|mon|ma|mes|notre|mi|mis|nuestr[oa]|mio|mia|il mio|la mia"
)
_PERSON_CUES = tuple(
    re.compile(each)
    for each in (
        rf"\b(?i:(?:{_OWN})\s+(?:\w+\s+)?(?:{_RELATION}))s?,?\s+{_FULL_NAME}",
        rf"{_FULL_NAME},?\s+(?i:my|meine?|mon|ma|mi)\s+(?i:{_RELATION})\b",
        rf"\b(?:Mr|Mrs|Ms|Dr|Prof|Frau|Herr|Mme|Mlle|Sr|Sra|Signora?)\.?\s+{_FULL_NAME}",
        rf"\b({_NAME})\s+(?:said|says|asked|asks|told|wrote|writes|thinks|wants|suggested|agreed|"
        r"called|emailed|replied|prefers|and I|sagt|sagte|meint|fragt|schrieb|a dit|dit que|dijo|"
        r"dice)\b",
        rf"\b(?i:(?:meeting|call|lunch|dinner|interview|chat)\s+with|email(?:ed)?|tell|ask)\s+({_NAME})\b",
        r"([\u4e00-\u9fff\u30a1-\u30fc]{1,6})(?:さん|くん|ちゃん)",
        r"((?:[赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦许何吕张孔曹严华金魏陶姜谢邹苏潘葛范彭鲁马方袁柳唐罗薛])"
        r"[\u4e00-\u9fff]{0,2})(?:先生|女士|老师|经理|医生)",
    )
)
_PROJECT_CUES = tuple(
    re.compile(each)
    for each in (
        rf"\b(?i:project|projekt|projet|proyecto|progetto)\s+(?i:called\s+|named\s+|namens\s+)?[\"“„«]?({_NAME})",
        rf"\b(?i:the|our|my)\s+({_NAME})\s+(?i:project|app|repo|repository|codebase|team)\b",
    )
)
_TOOLS = """
    Python Java JavaScript TypeScript Rust Golang Kotlin Swift PHP Ruby Scala Haskell Perl Julia
    MATLAB SQL HTML CSS React Vue Svelte Angular Next.js Node.js Deno Django Flask FastAPI Rails
    Laravel Spring Express PostgreSQL Postgres MySQL MariaDB SQLite MongoDB Redis Elasticsearch
    Kafka RabbitMQ Celery Docker Kubernetes Helm Terraform Ansible Jenkins GitHub GitLab Git Bazel
    CMake Maven Gradle npm pnpm webpack Vite pytest Jest Cypress Playwright Selenium NumPy pandas
    PyTorch TensorFlow scikit-learn Jupyter Qdrant Pinecone LangChain Ollama Hugging.Face AWS Azure
    GCP Vercel Netlify Cloudflare Heroku Supabase Firebase Nginx Apache Grafana Prometheus Linux
    Ubuntu Debian macOS Windows Android iOS Bash PowerShell Vim Neovim Emacs VS.Code Visual.Studio
    PyCharm IntelliJ Xcode Cursor Excel Word PowerPoint Outlook Google.Sheets Google.Docs Notion
    Obsidian Evernote Trello Jira Confluence Slack Discord Zoom Teams Figma Sketch Photoshop
    Lightroom Illustrator InDesign Premiere DaVinci.Resolve Blender Unity Unreal Godot AutoCAD
    Fusion.360 Arduino Raspberry.Pi Home.Assistant LaTeX Zotero Anki Duolingo WordPress Shopify
    Salesforce HubSpot Tableau Power.BI Airtable Zapier Stripe Ableton GarageBand Logic.Pro
    MuseScore Strava Garmin darktable
"""
_TOOL_NAMES = {
    each.replace(".", " ").lower() if each not in {"Next.js", "Node.js"} else each.lower(): (
        each if each in {"Next.js", "Node.js"} else each.replace(".", " ")
    )
    for each in _TOOLS.split()
}
# Words that mean something else in a sentence count only where they begin with a capital.
_ALSO_WORDS = frozenset(
    """
    java swift ruby perl julia express spring rust cursor word teams zoom sketch unity
    unreal premiere windows notion slack apache outlook helm jest react go git stripe
""".split()  # noqa: SIM905 - easier to read
)
_TOOL = re.compile(
    r"(?<![\w.-])("
    + "|".join(sorted((re.escape(each) for each in _TOOL_NAMES), key=len, reverse=True))
    + r")(?![\w-])",
    re.IGNORECASE,
)
_SAME = {"postgres": "postgresql"}


@dataclass(frozen=True, slots=True)
class Named:
    """Something named in a message."""

    kind: str
    name: str


def names_in(text: str) -> Counter[Named]:
    """What the text names, and how often."""
    found: Counter[Named] = Counter()
    for kind, cues in ((PERSON, _PERSON_CUES), (PROJECT, _PROJECT_CUES)):
        for cue in cues:
            for match in cue.finditer(text):
                name = _tidy(match.group(1))
                if name:
                    found[Named(kind, name)] += 1
    for name in _tools(text):
        found[Named(TOOL, name)] += 1
    return found


def _tools(text: str) -> Iterator[str]:
    for match in _TOOL.finditer(text):
        written = match.group(1)
        key = written.lower()
        if key in _ALSO_WORDS and not (written[0].isupper() and _inside_sentence(text, match)):
            continue
        yield _TOOL_NAMES[_SAME.get(key, key)]


def _inside_sentence(text: str, match: re.Match[str]) -> bool:
    before = text[: match.start()].rstrip()
    return bool(before) and before[-1] not in ".!?:\n"


def _tidy(name: str) -> str:
    """The name without a possessive; "" for a word that is none."""
    words = re.sub(r"['’]s?$", "", name).split()
    while words and words[-1].lower() in common_words():
        words.pop()
    if not words or words[0].lower() in common_words() or words[0].lower() in _TOOL_NAMES:
        return ""
    if words[0].isascii() and (len(words[0]) < 3 and not words[0].isupper()):
        return ""
    return " ".join(words)
