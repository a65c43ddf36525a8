"""What the tests of scripts/sweep.py share. They are called with the path of rope-bench."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SWEEP = os.path.join(ROOT, "scripts", "sweep.py")
BINARY = os.path.realpath(sys.argv.pop(1))  # of whichever test imports this

TINY = {
    "name": "tiny",
    "model": {"num_heads": 2, "num_kv_heads": 1, "head_dim": 8, "max_position": 64},
    "measure": {"cache": "warm", "max_time_s": 0.01, "precision": 0.5},
}

# Stands before rope-bench: writes down what it is started with, and lets rows through one by one. `fault` is called with
# the place of a row in the output and the line; it may change the line or end the process.
WRAPPER = """#!{python}
import os, signal, subprocess, sys, time
if "jsonl" not in sys.argv:
    os.execv({binary!r}, [{binary!r}] + sys.argv[1:])
open({log!r}, "a").write("%d\\n" % os.getpid())
def fault(i, line):
    {fault}
    return line
process = subprocess.Popen([{binary!r}] + sys.argv[1:], stdout=subprocess.PIPE)
for i, line in enumerate(process.stdout):
    line = fault(i, line)
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    time.sleep({delay})
sys.exit(process.wait())
"""


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    for row in rows:
        assert None not in row and None not in row.values(), row
    return rows


def names(rows):
    return [row["name"] for row in rows]


class SweepTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.config = self.file("tiny.json")
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump(TINY, file)

    def file(self, name):
        return os.path.join(self.folder, name)

    def words(self, *words, binary=None):
        return [sys.executable, SWEEP, *words, "--binary", binary or BINARY]

    def sweep(self, *words, binary=None, **options):
        return subprocess.run(self.words(*words, binary=binary), capture_output=True, text=True, cwd=self.folder,
                              check=False, **options)

    def checked(self, *words, binary=None):
        """A sweep that must succeed; it only checks, which is quick and gives the same rows every time."""
        done = self.sweep(*words, "-d", "cpu", "--no-measure", binary=binary)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def wrapper(self, fault="pass", delay=0.0):
        path = self.file("wrapper")
        with open(path, "w", encoding="utf-8") as file:
            file.write(WRAPPER.format(python=sys.executable, binary=BINARY, log=self.file("log"), fault=fault,
                                      delay=delay))
        os.chmod(path, 0o755)
        return path

    def started(self):
        """Process ids of every rope-bench that the wrapper ran as."""
        if not os.path.exists(self.file("log")):
            return []
        with open(self.file("log"), encoding="utf-8") as file:
            return [int(line) for line in file]
