"""What scripts/gate_counts and scripts/spread share: they start a rope-bench again and again and keep what it found."""
import json
import os
import subprocess
import sys


class EvidenceError(Exception):
    """One line for the user, and the exit code that goes with it."""

    def __init__(self, text, code=2):
        super().__init__(text)
        self.code = code


def refuse_unwritable(path):
    """Before the first run, not after the last. What is there stays as it is."""
    target = os.path.realpath(path)
    try:
        if os.path.isdir(target) or not os.path.basename(path):
            raise EvidenceError(f"cannot write {path or 'a file without a name'}: it is a folder")
        if os.path.exists(target):
            if not os.access(target, os.W_OK):
                raise EvidenceError(f"cannot write {path}: Permission denied")
        else:  # the only sure answer to whether a file can be made is to make one
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            os.unlink(target)
    except OSError as error:
        raise EvidenceError(f"cannot write {path}: {error.strerror}") from None


def results(binary, words, folder, members):
    """What one rope-bench writes as JSON, which has these members."""
    path = os.path.join(folder, "results.json")
    if os.path.exists(path):
        os.unlink(path)  # of the run before
    try:
        done = subprocess.run([binary, *words, "-o", "json:" + path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, errors="replace", check=False)
    except OSError as error:
        raise EvidenceError(f"cannot start {binary}: {error.strerror}; --binary names another rope-bench") from None
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr, end="")
        raise EvidenceError(f"{' '.join([binary, *words[:1]])} ended with {done.returncode}", 2 if done.returncode == 2 else 6)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or any(name not in found for name in members):
        raise EvidenceError(f"{binary} is no rope-bench: it ended with 0 and wrote no results")
    return found
