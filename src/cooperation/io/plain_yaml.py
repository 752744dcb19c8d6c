"""Plain YAML: values, lists and mappings, nothing that runs programs."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from cooperation.io.files import DAMAGE, InputError, file_errors, parse_errors


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
        return reader.get_single_data()


def read_yaml_file(path: Path) -> Any:
    """What a file says; a missing file, or anything else than plain YAML, is an `InputError`."""
    with file_errors(path):
        if not path.exists():
            raise InputError(f"{path}: no such file; name the settings")
        text = path.read_bytes()
    return read_yaml(text, str(path))


@cache
def check_file(path: str) -> None:
    """Raise `InputError` where a file is not plain YAML; a missing file is ignored."""
    if Path(path).is_file():
        read_yaml_file(Path(path))
