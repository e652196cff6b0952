"""`headgate accept`: what the specification promises, checked against a running server through its public surface."""
