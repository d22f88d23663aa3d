"""Keys under which a capture holds a conversation that is not one JSON object in its export."""

from typing import Any

import orjson

LINES_KEY = "backread_lines"  # the JSON values of a session's lines, in order
UNREAD_KEY = "backread_unread"  # lines that are no JSON, as text
ROWS_KEY = "backread_rows"  # the rows of a list or table that make one conversation
PAGE_KEY = "backread_page"  # pieces of a page, as HTML
TEXT_KEY = "backread_text"  # a text that is one conversation
MEMORY_FILE_KEY = "backread_memory_file"  # a text that is a memory: its place and its words
COMPOSER_KEY = "backread_composer"  # a chat's record out of a database, …
COMPOSER_ID_KEY = "backread_composer_id"  # … its key there …
BUBBLES_KEY = "backread_bubbles"  # … and the records of its messages
HEADER_KEY = "backread_header"  # what a list of composers says about one
STORE_KEY = "backread_store"  # a chat that has a database of its own: what it says about itself
TAB_KEY = "backread_tab"  # a chat out of a list in a database
FOLDER_KEY = "backread_folder"  # the name of the folder that a chat lies in
TITLE_KEY = "backread_title"  # a title that stands in another file of the export


def with_key(body: bytes, key: str, value: Any) -> bytes:
    """The captured JSON object with one more key, so that it can be parsed again without the file
    that the value came from."""
    added = orjson.dumps({key: value})
    return body.rstrip()[:-1] + b"," + added[1:]
