"""The record of changes: who changed what, when, and with which credential. Records are only added."""
