"""What an interrupted run has measured already."""

import json
import shutil


class State:
    """Records of finished groups, so that an interrupted run goes on where it was."""

    def __init__(self, folder, keep):
        self.folder = folder
        if not keep and folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)

    def load(self, name):
        file = self.folder / f"{name}.json"
        return json.loads(file.read_text()) if file.exists() else None

    def save(self, name, record):
        part = self.folder / f"{name}.json.part"
        part.write_text(json.dumps(record, indent=1))
        part.replace(self.folder / f"{name}.json")
