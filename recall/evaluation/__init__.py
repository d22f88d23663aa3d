"""Measures recall on somebody's own archive, with questions made from it. Nothing leaves it."""
