"""Models that several threads load at once in a new process."""

import subprocess
import sys

# Each import of a module of fastembed takes so long that the other thread would come in between.
LOADING = """
import sys, threading, time

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("fastembed"):
            importing.add(threading.current_thread().name)
            time.sleep(0.01)

importing = set()
sys.meta_path.insert(0, Slow())

from storage.models.local.files import find_embedding_model, support_model
from storage.models.local.loading import load_cross_encoder, load_text_model

threads = [
    threading.Thread(target=load_text_model, args=[find_embedding_model(None)], name="text"),
    threading.Thread(target=load_cross_encoder, args=[support_model()], name="support"),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(importing))
"""


def test_only_one_thread_imports_fastembed() -> None:
    told = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, check=True)
    assert (told.stdout, told.stderr) == ("1\n", "")
