"""An invented archive and questions in pairs: one that it answers, one that it does not.

Subjects, what is said of them and how it is asked for were written by hand; which is told of which
is drawn with a seed. What is asked is never worded as it was said. A question without an answer
is of one of three kinds, from hard to easy: the subject is known and this of it was never said;
another subject of the kind that is talked about; something that nobody talked about.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SUBJECTS = (
    "the Hollis shed",
    "the Marlow kiln",
    "the Brackwater boat",
    "Teodor's thesis",
    "Ines's violin",
    "the Quillan roof",
    "the Sandoval archive",
    "Petra's bakery",
    "the Orsay bicycle",
    "the Lindt terrace",
    "Mirko's greenhouse",
    "the Farrow piano",
    "the Castellan website",
    "Yusra's novel",
    "the Dunmore chimney",
    "the Vasari printer",
    "Anselm's telescope",
    "the Kestrel van",
    "the Pellworm cottage",
    "Noemi's loom",
    "the Tarrant ledger",
    "the Ravello kitchen",
    "Osip's accordion",
    "the Winslow aquarium",
    "the Halden sauna",
    "Greta's beehives",
    "the Aldous bookshelf",
    "the Montrose cellar",
    "Bao's food stall",
    "the Inverley pond",
)
UNKNOWN = (
    "the Trevanion barn",
    "Ludmila's harp",
    "the Coverdale tractor",
    "the Ostrava studio",
    "Idris's podcast",
    "the Fenwick lighthouse",
    "the Bellamy carpet",
    "Saskia's canoe",
    "the Norwood clinic",
    "the Zander chalet",
)
# What is said, and two ways of asking for it.
TOLD = {
    "colour": (
        "We ended up painting {s} in {v}.",
        "Which colour did we choose for {s}?",
        "What paint did {s} get?",
    ),
    "price": (
        "The whole repair of {s} came to {v}, tax included.",
        "How much did we pay to have {s} repaired?",
        "What was the price of repairing {s}?",
    ),
    "keeper": (
        "{v} looks after {s} while we are away.",
        "Who takes care of {s} when we travel?",
        "Who is looking after {s} during our absence?",
    ),
    "deadline": (
        "Everything about {s} has to be finished by {v}.",
        "What is the deadline for {s}?",
        "By when must {s} be finished?",
    ),
    "wood": (
        "For {s} the carpenter recommended {v} because it does not warp.",
        "Which wood did the carpenter advise for {s}?",
        "What timber was recommended for {s}?",
    ),
    "insurance": (
        "{v} insures {s} against fire and theft.",
        "With which company is {s} insured?",
        "Who provides the insurance of {s}?",
    ),
    "password": (
        "I wrote the alarm code of {s} on the back of {v}.",
        "Where did I note the alarm code of {s}?",
        "On what is the alarm code for {s} written?",
    ),
    "visitor": (
        "{v} came to photograph {s} for the newspaper.",
        "Which photographer visited {s}?",
        "Who took newspaper photos of {s}?",
    ),
    "music": (
        "At the opening of {s} they played {v}.",
        "What music was played when {s} opened?",
        "Which piece was played at the opening of {s}?",
    ),
    "weight": (
        "We put {s} on the scales: {v} altogether.",
        "How heavy is {s}?",
        "What does {s} weigh?",
    ),
    "allergy": (
        "The doctor thinks that {v} in {s} causes the rash.",
        "What in {s} is causing the rash?",
        "Which substance in {s} does the doctor suspect behind the rash?",
    ),
    "permit": (
        "The council refused the permit for {s} because of {v}.",
        "Why was the permit for {s} refused?",
        "For what reason did the council reject the permit for {s}?",
    ),
}
VALUES = {
    "colour": ("sage green", "brick red", "pale ochre"),
    "price": ("340 francs", "1,280 euros", "ninety pounds"),
    "keeper": ("Uncle Bertil", "Wanda from next door", "my cousin Rui"),
    "deadline": ("the ninth of October", "Ascension Day", "the end of the harvest"),
    "wood": ("larch", "acacia", "smoked oak"),
    "insurance": ("Fennel Mutual", "Northgate Assurance", "the Alpine Pool"),
    "password": ("the seed catalogue", "an old tram ticket", "the calendar in the hall"),
    "visitor": ("Clara Nyqvist", "a man from the Gazette", "Oumar Sy"),
    "music": ("a waltz by Durand", "two ragtimes", "the anthem of the rowing club"),
    "weight": ("212 kilos", "half a ton", "just under nine stone"),
    "allergy": ("nickel dust", "walnut oil", "the old varnish"),
    "permit": ("the height of the fence", "the old lime tree", "a missing signature"),
}
NOT_TALKED_ABOUT = (
    "Which vaccination did my cat get in Porto?",
    "How do I renew a fishing licence in Norway?",
    "What did we decide about the mortgage rate?",
    "Who won the chess tournament at school?",
    "Which sourdough recipe worked at high altitude?",
    "What was the name of the dentist in Lyon?",
    "When does the marathon registration close?",
    "How many litres does the new fuel tank hold?",
    "Which visa do I need for Mongolia?",
    "What did you suggest for the toddler's fever?",
    "Which Kubernetes version broke the ingress?",
    "What was my score in the Japanese exam?",
    "How do I convert the spreadsheet to Parquet?",
    "Which hotel near the Prague station had parking?",
    "What did we say about quitting coffee?",
    "Who is the new landlord of the office?",
    "Which stocks did I sell last spring?",
    "What was the diagnosis for the knee pain?",
    "How should I answer the recruiter from Zurich?",
    "Which lens fits the old Pentax?",
    "What is the plot of the opera in Verona?",
    "Which fertiliser helps against yellow lemon leaves?",
    "How did we fix the memory leak in the parser?",
    "What were the names of the twins' teachers?",
)
_CHATTER = (
    (
        "By the way, {s} still needs attention this month.",
        "Understood. Shall we make a list for it?",
    ),
    ("Let us talk about {s} for a moment.", "Gladly. Tell me what has changed since last time."),
    ("I was at {s} again today.", "Nice. Was everything as you had left it?"),
)
_REPLIES = (
    "Good, I will keep that in mind.",
    "Thanks for telling me, that settles it.",
    "That sounds sensible to me.",
    "Noted. Anything else that we should consider?",
)
_TOLD_EACH = 5


@dataclass(frozen=True, slots=True)
class InventedChat:
    title: str
    turns: Sequence[str]


@dataclass(frozen=True, slots=True)
class Pair:
    """`kind` is of the question that has no answer. `said` is what answers the other one."""

    answerable: str
    said: str
    unanswerable: str
    kind: str


def archive_and_pairs(seed: int = 7) -> tuple[list[InventedChat], list[Pair]]:
    draw = random.Random(seed)
    facts = {subject: draw.sample(sorted(TOLD), _TOLD_EACH) for subject in SUBJECTS}
    value = {(s, name): draw.choice(VALUES[name]) for s, names in facts.items() for name in names}
    chats = [_chat(draw, subject, names, value) for subject, names in facts.items()]
    return chats, list(_pairs(draw, facts, value))


def _chat(
    draw: random.Random, subject: str, names: Sequence[str], value: dict[tuple[str, str], str]
) -> InventedChat:
    opening = draw.choice(_CHATTER)
    turns = [opening[0].format(s=subject), opening[1]]
    for name in names:
        said = TOLD[name][0].format(s=subject, v=value[subject, name])
        turns += [said[:1].upper() + said[1:], draw.choice(_REPLIES)]
    title = subject.removeprefix("the ")
    return InventedChat(title[:1].upper() + title[1:], turns)


def _pairs(
    draw: random.Random, facts: dict[str, list[str]], value: dict[tuple[str, str], str]
) -> Iterator[Pair]:
    number = 0
    for subject, names in facts.items():
        untold = [name for name in sorted(TOLD) if name not in names]
        for name in names + names[:3]:
            way = 1 + number % 2
            said = TOLD[name][0].format(s=subject, v=value[subject, name])
            kind, question = _without_answer(draw, number, subject, untold)
            yield Pair(
                TOLD[name][way].format(s=subject), said[:1].upper() + said[1:], question, kind
            )
            number += 1


def _without_answer(
    draw: random.Random, number: int, subject: str, untold: Sequence[str]
) -> tuple[str, str]:
    way = draw.choice((1, 2))
    if number % 3 == 0:
        return "never said of it", TOLD[draw.choice(untold)][way].format(s=subject)
    if number % 3 == 1:
        return "unknown subject", TOLD[draw.choice(sorted(TOLD))][way].format(
            s=draw.choice(UNKNOWN)
        )
    return "not talked about", draw.choice(NOT_TALKED_ABOUT)
