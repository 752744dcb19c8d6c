from cooperation.miniature.world import World
from cooperation.miniature.writing import write_pictures, write_world

__all__ = ["World", "write_pictures", "write_world"]
