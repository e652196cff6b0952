"""The table that every page's lists are drawn with."""

import re

from tests.support.service import ROOT
from web.html import Html
from web.table import END, Column, Row, View, in_order, table

# The parts of pages show a matrix of steps as a script draws it.
ELSEWHERE = {"functions/web/table.py", "functions/application/style_pages.py"}


def test_no_page_writes_a_table_of_its_own() -> None:
    pages = (ROOT / "functions").rglob("*.py")
    writing = {str(page.relative_to(ROOT)) for page in pages if "<table" in page.read_text()}

    assert writing == ELSEWHERE


def test_a_head_sorts_the_list_and_keeps_filters_and_place() -> None:
    columns = [Column("Host", "host"), Column("Sent", "sent", int, "number"), END]
    shown = table(columns, [("a", 3, "")], view=View("/list", "-sent"), filters={"state": "silent"}, anchor="hosts")

    assert 'href="/list?state=silent&amp;sort=host#hosts"' in shown
    assert 'href="/list?state=silent&amp;sort=sent#hosts"' in shown
    assert '<th scope="col" aria-sort="descending" class="number">' in shown
    assert '<td class="number" data-label="Sent">3</td>' in shown
    assert in_order(View("", "-sent"), [1, 3, 2], columns) == [3, 2, 1]
    assert in_order(View("", "-host"), [1, 3, 2], columns) == [1, 3, 2]


def test_a_row_can_be_chosen_from_the_start_and_an_old_one_is_paler() -> None:
    rows = [Row(("a",), choice="ins_a", label="a", chosen=True), Row((Html("<b>b</b>"),), old=True)]
    shown = table(["Host"], rows)

    assert re.search(r'name="ins_a" value="yes" form="chosen" checked aria-label="Choose a"', shown)
    assert '<tr class="old"><td></td><td><b>b</b></td></tr>' in shown
