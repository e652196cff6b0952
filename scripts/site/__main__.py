"""Writes build/docs, from which mkdocs builds the site: the pages of docs/, and reference pages from the code.

make docs
"""

from headgate import checker
from scripts.site.staging import STAGED, stage

if __name__ == "__main__":
    try:
        stage(STAGED)
    finally:
        checker.close()
