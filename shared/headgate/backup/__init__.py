"""Export and import of one organization's data, item by item, for an operator with access to the tables."""
