"""The package needs what requirements.txt lists, which Spaces and Docker read."""

from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    def update(self, metadata: dict) -> None:
        metadata["dependencies"] = Path(self.root, "requirements.txt").read_text("utf-8").split()
