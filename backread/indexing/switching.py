"""Changing the embedding model without losing anything, for the whole installation.

Questions go on with the serving model while the vectors of the next one are made beside its own.
When no row would lose its vector, the roles change in one transaction. The former model's vectors
stay for some days, so that going back takes no time; then they are removed. Whatever goes wrong
before the change leaves the serving model as it is, and the reason is shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from backread.errors import BackreadError, Conflict, InvalidInput
from backread.indexing.asking import enqueue_embedding
from backread.jobs import enqueue
from backread.kernel import Kernel
from backread.llm.embedding import Embedder
from backread.llm.open import check_name
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import EmbeddingModel
from backread.store.repositories.embedding_models import (
    Role,
    all_models,
    end_role,
    model_of,
    note_gone,
    set_model,
)
from backread.store.repositories.indexed import (
    KINDS,
    accounts_lacking,
)
from backread.store.repositories.second_vectors import count_vectors, is_any_missing

CHANGE_MODELS = "ingest.change_models"

_PROBE = "Does this model answer?"


@dataclass(frozen=True, slots=True)
class SwitchStatus:
    """Which model serves, and how far a change has come. Empty names: there is none."""

    serving: str
    serving_since: datetime | None
    next: str
    next_error: str  # why it cannot serve; empty while its vectors are being made
    done: int  # rows that have the next model's vector already, or, without one, the serving one's
    total: int
    former: str
    former_until: datetime | None
    setting: str  # what BACKREAD_EMBEDDING_MODEL says

    @property
    def is_building(self) -> bool:
        return bool(self.next) and not self.next_error


def switch_status(kernel: Kernel) -> SwitchStatus:
    with kernel.store.read() as session:
        roles = all_models(session)
        serving, coming, former = (
            roles.get(each) for each in (Role.SERVING, Role.NEXT, Role.FORMER)
        )
        counted = kernel.embedder
        if coming is not None and not coming.error:
            counted = kernel.models.open(coming.name)
        signature = kernel.signature_with(counted)
        counts = [count_vectors(session, kind, signature) for kind in KINDS.values()]
    return SwitchStatus(
        serving=kernel.settings.embedding_model if serving is None else serving.name,
        serving_since=None if serving is None else serving.since,
        next="" if coming is None else coming.name,
        next_error="" if coming is None else coming.error,
        done=sum(done for done, _ in counts),
        total=sum(total for _, total in counts),
        former="" if former is None else former.name,
        former_until=None if former is None else former.until,
        setting=kernel.settings.embedding_model,
    )


def settle(kernel: Kernel) -> None:
    """Notes which model serves, at the first start of a server; after that, begins the change that
    a new value of BACKREAD_EMBEDDING_MODEL asks for. A value that was acted on before is not
    acted on again, so that a choice made in the web app outlives a restart."""
    wanted = kernel.settings.embedding_model
    with kernel.store.write() as session:
        _note_serving(session, kernel)
        setting = model_of(session, Role.SETTING)
        if setting is not None and setting.name != wanted:
            _begin(session, kernel, wanted)
        if setting is None or setting.name != wanted:
            set_model(session, Role.SETTING, wanted)
    kernel.models.look_again()


def begin_switch(kernel: Kernel, name: str) -> None:
    """Has the vectors of the model made, and then questions answered with it. A change that was
    under way is called off for it.

    Raises InvalidInput when there is no model of this name, Conflict when it serves already.
    """
    name = name.strip()
    if not name:
        raise InvalidInput("No model is named.", hint="Name an embedding model.")
    check_name(kernel.settings, name)
    with kernel.store.write() as session:
        if _note_serving(session, kernel) == name:
            raise Conflict(
                f"Questions are answered with {name} already.", hint="Choose another model."
            )
        _begin(session, kernel, name)


def call_off(kernel: Kernel) -> None:
    """Ends a change that is under way, or clears away one that failed. The serving model stays."""
    with kernel.store.write() as session:
        roles = all_models(session)
        if Role.NEXT not in roles:
            raise Conflict("No change of models is under way.", hint="There is nothing to stop.")
        _leave(session, roles[Role.NEXT])


def roll_back(kernel: Kernel) -> None:
    """Lets the former model answer again, at once. What came in since it served is found by its
    words until its vectors are made."""
    with kernel.store.write() as session:
        roles = all_models(session)
        former, serving = roles.get(Role.FORMER), roles.get(Role.SERVING)
        if former is None or serving is None:
            raise Conflict(
                "No former model is kept.",
                hint="Change to the model that you want; its vectors are made in the background.",
            )
        coming = roles.get(Role.NEXT)
        if coming is not None:
            _leave(session, coming)
        _swap(session, kernel, to=(former.name, former.signature))
    kernel.models.look_again()
    ask_for_missing(kernel)


def keep(kernel: Kernel) -> None:
    """Ends the time in which one can go back: the former model's vectors are removed."""
    with kernel.store.write() as session:
        former = model_of(session, Role.FORMER)
        if former is None:
            raise Conflict(
                "No former model is kept.", hint="There is nothing to remove; all is in order."
            )
        _remove(session, former)


def end_of_grace(kernel: Kernel) -> None:
    """Removes what a former model left, once its days are over. Done once an hour."""
    with kernel.store.write() as session:
        former = model_of(session, Role.FORMER)
        if former is not None and former.until is not None and former.until <= utcnow():
            _remove(session, former)


def probe(embedder: Embedder) -> None:
    """Raises InvalidInput or Unavailable when the model cannot be used."""
    embedder.embed_passages([_PROBE])
    embedder.embed_queries([_PROBE])


def fail(kernel: Kernel, name: str, reason: str) -> None:
    """Notes why the next model does not serve. Nothing else changes."""
    with kernel.store.write() as session:
        coming = model_of(session, Role.NEXT)
        if coming is not None and coming.name == name:
            set_model(session, Role.NEXT, name, signature=coming.signature, error=reason)


def change_over(kernel: Kernel, name: str) -> bool:
    """Makes the next model the serving one, unless a row would lose its vector: False then."""
    with kernel.store.write() as session:
        roles = all_models(session)
        coming = roles.get(Role.NEXT)
        if coming is None or coming.name != name or coming.error:
            return True  # called off meanwhile: nothing is left to do
        marks = vector_marks(kernel, roles)
        for kind in KINDS.values():
            if is_any_missing(session, kind, serving=marks.serving, wanted=marks.beside):
                return False
        signature = coming.signature
        end_role(session, Role.NEXT)
        _swap(session, kernel, to=(name, signature))
    kernel.models.look_again()
    ask_for_missing(kernel)
    return True


@dataclass(frozen=True, slots=True)
class VectorMarks:
    """What rows are marked with: for the serving model, and for the one whose vectors lie beside
    its own, the next or the former. Empty for none."""

    serving: str
    beside: str


def vector_marks(kernel: Kernel, roles: Mapping[Role, EmbeddingModel]) -> VectorMarks:
    words = kernel.index.lexical_signature
    serving = roles.get(Role.SERVING)
    other = roles.get(Role.NEXT)
    if other is None or other.error:
        other = roles.get(Role.FORMER)
    signature = kernel.embedder.signature if serving is None else serving.signature
    return VectorMarks(
        f"{signature}@{words}",
        "" if other is None or not other.signature else f"{other.signature}@{words}",
    )


def ask_for_missing(kernel: Kernel) -> None:
    """Asks for what the index lacks of any account, under the model that serves."""
    words, dense = kernel.index.lexical_signature, kernel.dense_signature
    for kind in KINDS.values():
        with kernel.store.read() as session:
            lacking = accounts_lacking(session, kind, words=words, dense=dense)
        for account_id in sorted(lacking):
            with kernel.store.write() as session:
                enqueue_embedding(session, account_id, kind.collection)


def _note_serving(session: WriteSession, kernel: Kernel) -> str:
    """The serving model, which is the one of the settings until there has been a change."""
    known = model_of(session, Role.SERVING)
    name = kernel.settings.embedding_model if known is None else known.name
    signature = _signature(kernel, name)  # a newer release may make other vectors
    if known is None or known.signature != signature:
        set_model(session, Role.SERVING, name, signature=signature)
    return name


def _begin(session: WriteSession, kernel: Kernel, name: str) -> None:
    roles = all_models(session)
    coming = roles.get(Role.NEXT)
    if coming is not None:
        _leave(session, coming)
    if name == roles[Role.SERVING].name:
        return
    error = ""
    try:
        check_name(kernel.settings, name)
        signature = _signature(kernel, name)
    except BackreadError as refused:
        signature, error = "", str(refused)
    former = roles.get(Role.FORMER)
    if former is not None and former.name != name and not error:
        # A row has room for the vectors of two models, and the next one's need it now.
        _remove(session, former)
    set_model(session, Role.NEXT, name, signature=signature, error=error)
    if not error:
        _ask(session)


def _swap(session: WriteSession, kernel: Kernel, *, to: tuple[str, str]) -> None:
    serving = model_of(session, Role.SERVING)
    assert serving is not None
    until = utcnow() + timedelta(days=kernel.settings.embedding_keep_days)
    set_model(session, Role.FORMER, serving.name, signature=serving.signature, until=until)
    name, signature = to
    set_model(session, Role.SERVING, name, signature=signature)


def _leave(session: WriteSession, coming: EmbeddingModel) -> None:
    """What was made of a model that will not serve goes, unless it is kept for going back."""
    former = model_of(session, Role.FORMER)
    if former is not None and former.signature == coming.signature:
        end_role(session, Role.NEXT)
    else:
        _remove(session, coming)


def _remove(session: WriteSession, model: EmbeddingModel) -> None:
    """Takes its role from the model, and has its vectors removed."""
    name, signature = model.name, model.signature
    end_role(session, Role(model.role))
    if signature:
        note_gone(session, name, signature)
        _ask(session)


def _ask(session: WriteSession) -> None:
    # One key: removing and making vectors never happen at the same time.
    enqueue(session, CHANGE_MODELS, account_id=None, dedupe_key="change_models")


def _signature(kernel: Kernel, name: str) -> str:
    return kernel.models.open(name).signature
