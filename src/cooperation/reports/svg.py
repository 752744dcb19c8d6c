"""SVG text: values that are told at each point, and figures that stand in a page."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

SPACES = {
    "": "http://www.w3.org/2000/svg",
    "xlink": "http://www.w3.org/1999/xlink",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "cc": "http://creativecommons.org/ns#",
    "dc": "http://purl.org/dc/elements/1.1/",
}
SVG, HREF = f"{{{SPACES['']}}}", f"{{{SPACES['xlink']}}}href"
HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'


def with_values(svg: str, said: Sequence[Sequence[str]]) -> str:
    """Tell at each point what it is: browsers show it under the pointer, and the page by keyboard.

    said: the texts of the points of the lines whose ids are `values-0`, `values-1` …, in their order.
    """
    root = _parsed(svg)
    groups = {group.get("id"): group for group in root.iter(f"{SVG}g")}
    for number, texts in enumerate(said):
        parents = [parent for parent in groups[f"values-{number}"].iter() if parent.find(f"{SVG}use") is not None]
        points = [(parent, point) for parent in parents for point in parent.findall(f"{SVG}use")]
        for (parent, point), text in zip(points, texts, strict=True):
            told = ET.Element(f"{SVG}g", {"class": "value", "role": "img", "aria-label": text})
            ET.SubElement(told, f"{SVG}title").text = text
            place = list(parent).index(point)
            parent.remove(point)
            told.append(point)
            parent.insert(place, told)
    return HEAD + ET.tostring(root, encoding="unicode") + "\n"


def inlined(svg: str, name: str, alt: str) -> str:
    """A figure to stand in a page, with ids that no other figure has. name: the figure's; alt: it in words."""
    root = _parsed(svg)
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    for described in root.findall(f"{SVG}metadata"):
        root.remove(described)
    root.attrib |= {"role": "group", "aria-label": alt}
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "id":
                element.set(key, f"{name}-{value}")
            elif key in (HREF, "href") and value.startswith("#"):
                element.set(key, f"#{name}-{value[1:]}")
            elif "url(#" in value:
                element.set(key, value.replace("url(#", f"url(#{name}-"))
    return ET.tostring(root, encoding="unicode")


def _parsed(svg: str) -> ET.Element:
    for prefix, space in SPACES.items():
        ET.register_namespace(prefix, space)
    return ET.fromstring(svg)
