"""Who is calling: organizations, service accounts, their tokens, and what a credential allows."""
