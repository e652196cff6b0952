"""Events of an instance, for people and for webhooks."""
