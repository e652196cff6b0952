"""`make release`: what a release consists of, in `dist/`. docs/releasing.md lists it."""
