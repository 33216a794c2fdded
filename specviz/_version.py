"""The version of the package and of the traces it writes."""

__version__ = "0.1.0"
