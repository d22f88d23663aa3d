"""One table of date words and phrases a language."""
