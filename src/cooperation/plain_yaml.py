"""YAML that people write: values, lists and keys, nothing that runs programs."""

from typing import Any

import yaml

from cooperation.files import DAMAGE, sound


class Unshared(yaml.SafeLoader):
    """YAML without aliases, of which a few lines can stand for millions."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """A part of the text, unless it is said elsewhere."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has an alias; write the text out")
        return super().compose_node(parent, index)


def read_yaml(text: str | bytes, place: str, loader: type[yaml.SafeLoader] = yaml.SafeLoader) -> Any:
    """What a text says; `place` is what messages call it. Anything else than plain YAML is an `InputError`."""
    with sound(place, "not YAML", "correct it", (yaml.YAMLError, *DAMAGE)):
        return yaml.load(text, loader)
