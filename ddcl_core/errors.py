"""The one error type for input that cannot be used."""

from __future__ import annotations


class InputError(ValueError):
    """A value from outside cannot be used.

    The message is one sentence for the person who sent the value: it names what is wrong, repeats the value, and says
    how to mend it. Pages show it as it stands.
    """
