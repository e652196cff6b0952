"""What happened on an instance, for people and for webhooks."""
