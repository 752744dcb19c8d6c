"""Plain YAML: values, lists and mappings, nothing that runs programs."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from cooperation.io.files import DAMAGE, InputError, file_errors, parse_errors

MOST_VALUES = 1_000_000
"""Settings have a thousand; with aliases of aliases a few lines can stand for any number."""


class UniqueKeys(yaml.SafeLoader):
    """Refuses a key that is there twice; PyYAML would take the last without a word."""

    def compose_mapping_node(self, anchor: Any) -> Any:
        """Compose keys and values as they are written, before `<<` merges others into them."""
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise yaml.composer.ComposerError(None, None, f"{key.value!r} is there twice", key.start_mark)
            seen.add(key.value)
        return node


class NoAliases(UniqueKeys):
    """Refuses aliases too: a few lines of them can stand for millions."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a node that is no alias."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has an alias; write the text out")
        return super().compose_node(parent, index)


def read_yaml(text: str | bytes, place: str, loader: type[yaml.SafeLoader] = UniqueKeys) -> Any:
    """Parse a text; place: its name in messages. Raises `InputError` where it is not plain YAML."""
    with parse_errors(place, "not YAML", "correct it", (yaml.YAMLError, *DAMAGE)):
        reader = loader(text)
        # PyYAML's messages name it, with the line.
        reader.name = place
        node = reader.get_single_node()
        if node is None:
            return None
        _values(node, {})
        return reader.construct_document(node)


def _values(node: yaml.Node, counted: dict[int, int]) -> int:
    """How many values a node stands for with its aliases written out; counted: those of nodes so far, by identity.

    Raises `YAMLError` where they are too many, or an alias stands within what it stands for.
    """
    if id(node) in counted:
        if not counted[id(node)]:
            raise yaml.YAMLError("an alias (*) stands within what it stands for; write it out")
        return counted[id(node)]
    counted[id(node)] = 0
    within = node.value if isinstance(node, yaml.CollectionNode) else ()
    parts = (part for one in within for part in (one if isinstance(one, tuple) else (one,)))
    total = 1 + sum(_values(part, counted) for part in parts)
    if total > MOST_VALUES:
        raise yaml.YAMLError(f"its aliases (*) stand for more than {MOST_VALUES:,} values; write them out")
    counted[id(node)] = total
    return total


def read_yaml_file(path: Path) -> Any:
    """What a file says; a missing file, or anything else than plain YAML, is an `InputError`."""
    with file_errors(path):
        if not path.exists():
            raise InputError(f"{path}: no such file; name the settings")
        text = path.read_bytes()
    return read_yaml(text, str(path))


@cache
def read_if_there(path: str) -> dict[str, Any]:
    """The keys of a file of settings, none of a missing one. Raises `InputError` where it is not plain YAML."""
    found = read_yaml_file(Path(path)) if Path(path).is_file() else None
    return found if isinstance(found, dict) else {}
