"""How cosines of each embedding model become scores."""

from sqlalchemy.exc import IntegrityError

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import SimilarityCalibration


def find_calibration(session: ReadSession, embedder: str) -> SimilarityCalibration | None:
    return session.get(SimilarityCalibration, embedder)


def keep_calibration(session: WriteSession, calibration: SimilarityCalibration) -> None:
    """Keeps it unless another process has kept the same meanwhile."""
    try:
        with session.begin_nested():
            session.add(calibration)
            session.flush()
    except IntegrityError:
        return
