"""Export and import of one organization, item by item, for an operator with access to the tables."""
