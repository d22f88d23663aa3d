"""`backread up`: one process that starts the others, restarts them when they crash and stops them.

It keeps itself small: it imports neither the web framework nor the database.
"""
