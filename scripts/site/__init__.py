"""The site of the documents: docs/ with reference pages from the code, staged for mkdocs (docs/developing.md)."""
