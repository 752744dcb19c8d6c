"""YAML that people write: values, lists and keys, nothing that runs programs."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from cooperation.files import DAMAGE, sound


class Unrepeated(yaml.SafeLoader):
    """YAML in which no key stands twice, of which the last would count without a word."""

    def compose_mapping_node(self, anchor: Any) -> Any:
        """Keys and values as they are written, before others' are merged into them."""
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise yaml.composer.ComposerError(None, None, f"{key.value!r} is there twice", key.start_mark)
            seen.add(key.value)
        return node


class Unshared(Unrepeated):
    """YAML without aliases, of which a few lines can stand for millions."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """A part of the text, unless it is said elsewhere."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has an alias; write the text out")
        return super().compose_node(parent, index)


def read_yaml(text: str | bytes, place: str, loader: type[yaml.SafeLoader] = Unrepeated) -> Any:
    """What a text says; `place` is what messages call it. Anything else than plain YAML is an `InputError`."""
    with sound(place, "not YAML", "correct it", (yaml.YAMLError, *DAMAGE)):
        reader = loader(text)
        # What messages give lines of.
        reader.name = place
        return reader.get_single_data()


@cache
def check_file(path: str) -> None:
    """Refuse a file that isn't plain YAML; one that isn't there is none of this."""
    if Path(path).is_file():
        read_yaml(Path(path).read_bytes(), path)
