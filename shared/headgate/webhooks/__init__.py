"""Webhooks of an organization: who is told of which events, and each delivery until it was accepted or given up."""
