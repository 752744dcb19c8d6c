"""Examining Cooperation in Visual Dialog Models (2017), as software that can be checked."""

__version__ = "0.1.0"
