"""Names that quotes and closing still import from here."""

from ragweave.components.generation_input import GenerationInput

__all__ = ["GenerationInput"]
