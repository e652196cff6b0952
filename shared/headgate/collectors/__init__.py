"""The installed versions of the collector, and what each can do."""
