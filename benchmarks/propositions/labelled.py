"""Invented Markdown records, and the facts that a careful reader would write down for each: atomic,
and understandable without the record."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Labelled:
    name: str
    content: str
    facts: tuple[str, ...]


LABELLED = (
    Labelled(
        "Billing service",
        """# Billing service

The billing service runs on Go. It was moved to Frankfurt in May 2024. Its owner is Ada Byron.

## Limits

The API allows:

- 100 requests a minute
- uploads of 5 MB
""",
        (
            "The billing service runs on Go.",
            "The billing service was moved to Frankfurt in May 2024.",
            "The billing service's owner is Ada Byron.",
            "The API allows 100 requests a minute.",
            "The API allows uploads of 5 MB.",
        ),
    ),
    Labelled(
        "Ferry line 4",
        """The ferry runs on Sundays and it needs a crew of six. Tickets cost 4 € for adults;
children ride for free. Dr. Okafor inspects the hull every spring. Does anybody know the old
captain?
""",
        (
            "The ferry runs on Sundays.",
            "The ferry needs a crew of six.",
            "Tickets cost 4 € for adults.",
            "Children ride for free.",
            "Dr. Okafor inspects the hull every spring.",
        ),
    ),
    Labelled(
        "Plans and prices",
        """# Plans and prices

| plan | price | seats |
|---|---|---|
| Free | 0 € | 1 |
| Team | 24 € | 10 |

Students pay half.
""",
        (
            "Plans and prices: plan Free, price 0 €, seats 1",
            "Plans and prices: plan Team, price 24 €, seats 10",
            "Students pay half.",
        ),
    ),
    Labelled(
        "Customer: Larkspur",
        """# Larkspur

- **Contact**: Ines Moreau
- Status: renewal
- Contract end: 30 November 2026
- They want single sign-on before they renew.

## Call on 3 May

Ines was friendly. She asked for an audit log. She will decide in June.
""",
        (
            "Larkspur: Contact: Ines Moreau",
            "Larkspur: Status: renewal",
            "Larkspur: Contract end: 30 November 2026",
            "Larkspur want single sign-on before they renew.",
            "Ines was friendly.",
            "Ines asked for an audit log.",
            "Ines will decide in June.",
        ),
    ),
    Labelled(
        "Decision log",
        """## 2026-02-11 Queue

We decided to use RabbitMQ because the team knows it. This means that we keep two clusters.

## 2026-03-02 Search

OpenSearch was rejected. It needs too much memory.
""",
        (
            "We decided to use RabbitMQ because the team knows it.",
            "2026-02-11 Queue means that we keep two clusters.",
            "OpenSearch was rejected.",
            "OpenSearch needs too much memory.",
        ),
    ),
    Labelled(
        "Kidney diet of Miso",
        """Miso weighs 4.2 kg. He gets wet food at seven and six. His powder is mixed into the
evening portion. The vet, Dr. Petrescu, wants to see him in March.
""",
        (
            "Miso weighs 4.2 kg.",
            "Miso gets wet food at seven and six.",
            "Miso's powder is mixed into the evening portion.",
            "The vet, Dr. Petrescu, wants to see him in March.",
        ),
    ),
    Labelled(
        "Runbook: label printer",
        """# Label printer

If the printer blinks orange, hold the feed button for six seconds.

1. Open the lid.
2. Take out the roll.
3. Clean the head with alcohol.

```sh
lpadmin -x label
```

The spare head is in cupboard B.
""",
        (
            "If the printer blinks orange, hold the feed button for six seconds.",
            "Label printer: Open the lid.",
            "Label printer: Take out the roll.",
            "Clean the head with alcohol.",
            "Label printer: The spare head is in cupboard B.",
        ),
    ),
    Labelled(
        "Onboarding",
        """# Onboarding of designers

New designers meet three customers in their first week. They shadow a support shift.

Each designer gets:

- a laptop
- access to the component library
- a mentor
""",
        (
            "New designers meet three customers in their first week.",
            "New designers shadow a support shift.",
            "Each designer gets: a laptop",
            "Each designer gets: access to the component library",
            "Each designer gets: a mentor",
        ),
    ),
    Labelled(
        "Wohnung",
        """# Wohnung Lindenstraße

Die Miete beträgt 940 €. Die Kündigungsfrist beträgt drei Monate. Der Vermieter heißt Novak.

- Hausmeister: Herr Brandl
- Strom: Stadtwerke
""",
        (
            "Die Miete beträgt 940 €.",
            "Die Kündigungsfrist beträgt drei Monate.",
            "Der Vermieter heißt Novak.",
            "Wohnung Lindenstraße: Hausmeister: Herr Brandl",
            "Wohnung Lindenstraße: Strom: Stadtwerke",
        ),
    ),
    Labelled(
        "Research notes",
        """> Street trees lower the temperature in flats by two degrees (Lindgren, 2024).

The effect is larger in attics. Lindgren measured three summers. She used 84 sensors; they were
placed in bedrooms.
""",
        (
            "Street trees lower the temperature in flats by two degrees (Lindgren, 2024).",
            "Research notes: The effect is larger in attics.",
            "Lindgren measured three summers.",
            "Lindgren used 84 sensors.",
            "84 sensors were placed in bedrooms.",
        ),
    ),
    Labelled(
        "API errors",
        """# Errors

Every error has a code. Clients should retry only on 429 and 503. The header Retry-After says how
long to wait, e.g. 30 seconds. Version 2 of the API removes the field `status`.
""",
        (
            "Every error has a code.",
            "Clients should retry only on 429 and 503.",
            "The header Retry-After says how long to wait, e.g. 30 seconds.",
            "Version 2 of the API removes the field status.",
        ),
    ),
    Labelled(
        "Garden",
        """# Garden

## Tomatoes

Water the tomatoes every morning. They must not get wet leaves.

## Cedar

The cedar was planted in 1987, and it is protected. Its roots reach the fence.
""",
        (
            "Water the tomatoes every morning.",
            "Tomatoes must not get wet leaves.",
            "The cedar was planted in 1987.",
            "The cedar is protected.",
            "The cedar's roots reach the fence.",
        ),
    ),
)
