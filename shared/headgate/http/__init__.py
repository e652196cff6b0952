"""HTTP around the domain: credentials, limits, problem responses, pagination, idempotency. The only user of FastAPI."""
