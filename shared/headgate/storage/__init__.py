"""Everything that is stored: the tables' items, the bucket's objects, and how writes that race are retried."""
