from cooperation.data.miniature.writing import write_pictures, write_world

__all__ = ["write_pictures", "write_world"]
