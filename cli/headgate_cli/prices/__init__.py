"""`headgate price`: what the organization pays at destinations."""
