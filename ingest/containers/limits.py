"""How much may come out of one chosen file, however often its content is packed."""

from backread.errors import LimitExceeded
from backread.settings import Settings

_RATIO_FROM_BYTES = 10 * 1024**2
_AGAIN = "Download the export again, or make a new zip of its files."


class Allowance:
    """Shared by all layers of one chosen file: the archive, archives in it, packed files in those.
    Raises LimitExceeded, in words, as soon as more comes out than the settings allow."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._entries = 0
        self._inflated = 0

    @property
    def most_entries(self) -> int:
        return self._settings.archive_max_entries

    def count_entries(self, count: int = 1) -> None:
        self._entries += count
        if self._entries > self.most_entries:
            raise self.too_many_entries()

    def too_many_entries(self) -> LimitExceeded:
        return LimitExceeded(
            f"The archive holds more than the {self.most_entries:,} entries that are allowed.",
            hint="Unpack it and choose its conversations files.",
        )

    def meter(self, name: str, packed: int) -> "Meter":
        """For one member or packed file of `packed` bytes."""
        return Meter(self, name, packed)

    def check_ratio(self, name: str, inflated: int, packed: int) -> None:
        most = self._settings.archive_max_ratio
        if inflated > _RATIO_FROM_BYTES and inflated > most * max(1, packed):
            raise LimitExceeded(
                f"{name[:80]} is packed more than {most} times, "
                "as in a file made to fill the disk.",
                hint=_AGAIN,
            )

    def check_total(self, inflated: int) -> None:
        most = self._settings.archive_max_inflated_bytes
        if inflated > most:
            raise LimitExceeded(
                f"The archive unpacks to more than {most / 1024**3:.0f} GB, the most that is "
                "allowed.",
                hint="Import its parts one by one, or raise BACKREAD_ARCHIVE_MAX_INFLATED_BYTES.",
            )

    def count_inflated(self, size: int) -> None:
        self._inflated += size
        self.check_total(self._inflated)


class Meter:
    """Counts what is read of one member. Reading it again from the start counts once."""

    def __init__(self, allowance: Allowance, name: str, packed: int) -> None:
        self._allowance = allowance
        self._name = name
        self._packed = packed
        self._furthest = 0

    def reached(self, done: int) -> None:
        """`done` bytes have come out since the start."""
        self._allowance.check_ratio(self._name, done, self._packed)
        if done > self._furthest:
            self._allowance.count_inflated(done - self._furthest)
            self._furthest = done
