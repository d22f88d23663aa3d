"""`backread summaries`: what the language model summarises, and what it may cost."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backread.cli.context import find_principal, load_settings, open_kernel
from backread.cli.output import AccountOption, JsonOption, counted, note, print_json
from backread.errors import InvalidInput

if TYPE_CHECKING:
    from recall.summarising.planning import Estimate, SummaryStatus

_commands = typer.Typer(
    help="Summaries by a language model, and what they cost.", no_args_is_help=True
)


def add_commands(app: typer.Typer) -> None:
    app.add_typer(_commands, name="summaries")


@_commands.callback()
def _summaries() -> None:
    """Summaries by a language model, and what they cost."""


@_commands.command()
def estimate(account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Show what summarising the conversations that wait for your decision would take."""
    status = _status(account)
    if as_json:
        print_json({"offer": _estimate_json(status.offer)})
        return
    if status.offer is None:
        typer.echo("No conversation waits for a decision.")
        return
    _show_estimate("Would be summarised:", status.offer)
    typer.echo("Nothing is sent before you agree: backread summaries accept")


@_commands.command()
def accept(
    most_cost: Annotated[
        float | None,
        typer.Option("--most-cost", min=0, help="Agree only if the estimate is no higher."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Agree without being asked.")] = False,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Agree to the estimate. A running server then does the work, else: backread worker."""
    from backread.llm.language.pricing import money
    from recall.summarising.planning import accept_estimate, summary_status

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        status = summary_status(kernel, principal)
        offer = _required(status).offer
        if offer is None:
            raise InvalidInput("No conversation waits for a decision.")
        _check_cost(offer, most_cost)
        if not as_json:
            _show_estimate("Will be summarised:", offer)
        if not yes and not as_json and not typer.confirm("Agree?"):
            raise typer.Exit(1)
        taken = accept_estimate(kernel, principal, offer.until)
    if as_json:
        print_json({"accepted": _estimate_json(taken)})
        return
    note(f"Agreed to at most about {money(taken.cost_micros, taken.currency)}.")


@_commands.command("status")
def show_status(account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Show what was summarised, what is left, and why nothing happens, if nothing does."""
    from recall.summarising.planning import summary_status

    with open_kernel(load_settings()) as kernel:
        status = summary_status(kernel, find_principal(kernel, account))
    if status is None:
        _show_none(as_json=as_json)
        return
    if as_json:
        print_json(
            {
                "model": status.model,
                "made": status.made,
                "waiting": status.waiting,
                "offer": _estimate_json(status.offer),
                "accepted": _estimate_json(status.accepted),
                "coming": _estimate_json(status.coming),
                "is_paused": status.is_paused,
                "pause_reason": status.pause_reason,
                "try_after": status.try_after,
            }
        )
        return
    typer.echo(f"{counted(status.made, 'summary')} by {status.model}.")
    if status.waiting:
        typer.echo(f"{counted(status.waiting, 'conversation')} wait for another try.")
    for title, found in (
        ("Waits for your decision:", status.offer),
        ("Agreed, still to do:", status.accepted),
        ("New or changed, done as they come:", status.coming),
    ):
        if found is not None:
            _show_estimate(title, found)
    if status.is_paused:
        typer.echo("Paused. Go on with: backread summaries resume")
    if status.pause_reason:
        typer.echo(f"{status.pause_reason} Tried again {status.try_after:%Y-%m-%d %H:%M} UTC.")


def _show_none(*, as_json: bool) -> None:
    """That none is set up is no error: it is how Backread works unless somebody asks for more."""
    if as_json:
        print_json({"model": None})
        return
    typer.echo(
        "No language model is set up. Summaries are made of the conversations' own sentences."
    )
    typer.echo("docs/guides/language-models.md says how to set one up.")


@_commands.command()
def pause(account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Hold back what was agreed to and is not done yet."""
    from recall.summarising.planning import pause_summaries

    with open_kernel(load_settings()) as kernel:
        pause_summaries(kernel, find_principal(kernel, account))
    if as_json:
        print_json({"is_paused": True})
        return
    note("Paused.")


@_commands.command()
def resume(account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Go on with it, also with what waits for its next try."""
    from recall.summarising.planning import resume_summaries

    with open_kernel(load_settings()) as kernel:
        resume_summaries(kernel, find_principal(kernel, account))
    if as_json:
        print_json({"is_paused": False})
        return
    note("Going on.")


def _status(account: str) -> "SummaryStatus":
    from recall.summarising.planning import summary_status

    with open_kernel(load_settings()) as kernel:
        return _required(summary_status(kernel, find_principal(kernel, account)))


def _required(status: "SummaryStatus | None") -> "SummaryStatus":
    if status is None:
        raise InvalidInput(
            "No language model is set up, and none is needed.",
            hint="docs/guides/language-models.md says how to set one up.",
        )
    return status


def _check_cost(offer: "Estimate", most: float | None) -> None:
    if most is None:
        return
    if offer.cost_micros is None:
        raise InvalidInput(
            "The model's price is not known, so no cost can be promised.",
            hint="Set BACKREAD_LLM_PRICE_IN and BACKREAD_LLM_PRICE_OUT.",
        )
    if offer.cost_micros > most * 1_000_000:
        raise InvalidInput(f"The estimate is higher than {most:g} {offer.currency}.")


def _show_estimate(title: str, found: "Estimate") -> None:
    from backread.llm.language.pricing import money

    typer.echo(title)
    typer.echo(f"  {counted(found.conversations, 'conversation')}")
    typer.echo(f"  {found.tokens_in:,} tokens sent, {found.tokens_out:,} written")
    typer.echo(f"  at most about {money(found.cost_micros, found.currency)}")


def _estimate_json(found: "Estimate | None") -> dict[str, Any] | None:
    if found is None:
        return None
    cost = None if found.cost_micros is None else found.cost_micros / 1_000_000
    until: datetime = found.until
    return {
        "conversations": found.conversations,
        "tokens_in": found.tokens_in,
        "tokens_out": found.tokens_out,
        "cost": cost,
        "currency": found.currency,
        "until": until,
    }
