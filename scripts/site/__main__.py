"""Writes build/docs, from which mkdocs builds the site: the pages of docs/, and reference pages from the code.

make docs
"""

from scripts.site.staging import STAGED, stage

if __name__ == "__main__":
    stage(STAGED)
