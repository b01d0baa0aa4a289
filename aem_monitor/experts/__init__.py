"""Scorers that are too slow or too costly for the engine's thread: an LLM judge, sentence-transformers models.

An expert answers the questions that typed rules and the embedded scorer leave uncertain. It works on threads of its own
(``pool``), its answers are stored by content hash before they are used, and its failure is ``scorer_error``, never a
verdict.
"""

from aem_monitor.experts.base import Answered, Expert

__all__ = ["Answered", "Expert"]
