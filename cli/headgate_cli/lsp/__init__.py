"""`headgate lsp`: a language server for collector configurations."""
