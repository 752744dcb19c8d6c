"""The templates of the HTML pages, with all text escaped."""

import base64

from jinja2 import Environment, PackageLoader, StrictUndefined

from cooperation.reports.paper import number, signed


def environment() -> Environment:
    """The templates of this folder.

    table.html.j2 is a page of one table, page.html.j2 the page of all, card.html.j2 that of a test. All include
    macros.html.j2, page.css and sort.js, the page also values.js. (Workflow rules take the files named in the source as
    a command's inputs.)
    """
    loader = PackageLoader("cooperation.reports", "")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["number"] = number
    made.filters["signed"] = signed
    return made


def picture(svg: str) -> str:
    """An SVG as an address of data, so that it keeps its ids to itself; two inlined ones would share them."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
