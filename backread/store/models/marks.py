from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column


class IndexMarks:
    """Columns of a row that the search index has: the signature of what it is indexed with, ""
    for not yet. Set all to "" in the transaction that changes the row's text."""

    lexical_with: Mapped[str] = mapped_column(String(120), default="", server_default="")
    dense_with: Mapped[str] = mapped_column(String(120), default="", server_default="")
    # A second embedding model whose vector the point has beside the first one's.
    beside_with: Mapped[str] = mapped_column(String(120), default="", server_default="")
