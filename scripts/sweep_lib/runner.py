"""Runs the jobs of a sweep: rope-bench prints a JSON line as each row ends, which goes to the CSV at once."""
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from . import plan
from .csv_file import CsvFile, OWN_COLUMNS, key_of
from .errors import SweepError

# Names that one process is given in --filter: more would meet the system's limit for an argument.
MOST_NAMES = 200
SEVERITY = (0, 5, 1, 6, 130)  # of exit codes, rising
MOST_FRUITLESS = 3
LOG_INTERVAL_S = 30


def launcher():
    """The rope-bench beside sweep.py, which builds itself if it is not up to date."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "rope-bench")


def build():
    """-> launcher(), up to date; what it says while it builds is seen, unlike later."""
    done = subprocess.run([launcher(), "--version"], stdout=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise SweepError("rope-bench could not be built, its message is above; --binary names another",
                         done.returncode if done.returncode in plan.REFUSALS else 6)
    return launcher()


def csv_columns(binary):
    return plan.member(binary, plan.ask(binary, "schema", "results") or {}, "csv_columns")


def cell_text(row, column):
    """A cell of the CSV, spelled as rope-bench spells it there. Numbers keep the digits that they were printed with."""
    value = row
    for key in column["path"]:
        value = None if value is None else value[key]
    if value is None:
        return ""
    if column["type"] == "boolean":
        return "true" if value else "false"
    if column["type"] == "strings":
        return " ".join(value)
    if column["type"] == "number":
        return {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}.get(value, value)
    return value


class Progress:
    """Where a sweep is and when it ends, on stderr: redrawn on a terminal, now and then in a log."""

    def __init__(self, total, left, quiet):
        self.total, self.left_at_start, self.quiet = total, left, quiet
        self.left, self.start, self.last = left, time.monotonic(), time.monotonic()
        self.terminal = sys.stderr.isatty()
        self.drawn = False

    def done(self, name):
        self.left -= 1
        now = time.monotonic()
        if self.quiet or (not self.terminal and self.left and now - self.last < LOG_INTERVAL_S):
            return
        self.last = now
        per_case = (now - self.start) / (self.left_at_start - self.left)
        text = f"[{self.total - self.left}/{self.total}] {name}, {human_seconds(per_case * self.left)} left"
        if self.terminal:
            print(f"\r\x1b[K{text[:shutil.get_terminal_size().columns - 1]}", end="", file=sys.stderr, flush=True)
            self.drawn = True
        else:
            print(f"sweep.py: {text}", file=sys.stderr, flush=True)

    def clear(self):
        if self.drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self.drawn = False


def human_seconds(seconds):
    whole = int(seconds + 0.5)
    if whole < 100:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60:02} s" if whole < 6000 else f"{whole // 3600} h {whole % 3600 // 60:02} min"


def _die_with_parent():
    """A sweep that is killed leaves no rope-bench behind, which would disturb the one that resumes it."""
    if sys.platform == "linux":
        death_signal = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
        ctypes.CDLL(None).prctl(death_signal, signal.SIGKILL)


def _exact_filter(names):
    """The regex (ECMAScript) that matches these names alone."""
    return "^(" + "|".join(re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", name) for name in names) + ")$"


class Process:
    """One rope-bench over cases of one job; yields rows as they end."""

    def __init__(self, options, job, cases):
        words = [options.binary, *job.flags, "-q", "-o", "jsonl"]
        if len(cases) < len(job.cases):
            words += ["--filter", cases[0].name if len(cases) == 1 else _exact_filter([c.name for c in cases])]
        elif options.shard:
            words += ["--shard", options.shard]
        if options.device:
            words += ["--device", options.device]
        words += [flag for flag, on in (("--no-check", options.no_check), ("--no-measure", options.no_measure),
                                        ("--require-gpu", options.require_gpu)) if on]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, preexec_fn=_die_with_parent)

    def rows(self):
        for line in self.process.stdout:
            if line.endswith(b"\n"):  # not cut short by its death
                yield json.loads(line, parse_float=str, parse_int=str)

    def end(self):
        """-> exit code, negative for a signal."""
        return self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


class Sweeper:
    def __init__(self, options, jobs):
        self.options, self.jobs = options, jobs
        self.columns = csv_columns(options.binary)
        header = [column["name"] for column in self.columns] + OWN_COLUMNS
        self.file = CsvFile(options.output, header, options.resume, self.refuse_strangers)
        self.there = {key_of(row) for row in self.file.rows}
        self.inside_s = 0.0

    def keys(self, job, case):
        return [(job.sweep, job.label, case.name, cache) for cache in case.caches]

    def missing(self, job):
        return [case for case in job.cases if any(key not in self.there for key in self.keys(job, case))]

    def refuse_strangers(self, rows):
        """Rows of a sweep with other flags do not belong into this file."""
        planned = {key for job in self.jobs for case in job.cases for key in self.keys(job, case)}
        for row in rows:
            if key_of(row) not in planned:
                raise SweepError(f"{self.options.output} has rows of another sweep, for example {row['name']} of "
                                 f"`{row['sweep']}` with {row['sweep_flags']}")

    def add(self, job, case, row):
        cells = {column["name"]: cell_text(row, column) for column in self.columns}
        cells.update(sweep=job.sweep, case_index=str(case.index), sweep_flags=job.label,
                     num_cases=str(job.num_cases))
        if key_of(cells) in self.there:
            return  # its other cache mode was missing
        self.file.add(cells)
        self.there.add(key_of(cells))

    def run_process(self, job, cases):
        """-> exit code of rope-bench."""
        by_name = {case.name: case for case in cases}
        start = time.monotonic()
        process = Process(self.options, job, cases)
        try:
            for row in process.rows():
                case = by_name[row["name"]]
                self.add(job, case, row)
                if all(key in self.there for key in self.keys(job, case)):
                    self.progress.done(case.name)
            return process.end()
        finally:
            process.stop()
            self.inside_s += time.monotonic() - start

    def run_job(self, job):
        worst = 0
        fruitless = 0  # processes in a row that ended without a row
        cases = self.missing(job)
        while cases:
            batch = cases if len(cases) == len(job.cases) else cases[:MOST_NAMES]
            code = self.run_process(job, batch)
            if code in (2, 77, 130):
                raise SweepError("rope-bench ended, its message is above", code)
            code = code if code in SEVERITY else 6  # a signal, or whatever a wrapper says
            still_missing = set(self.missing(job))
            unfinished = [case for case in batch if case in still_missing]
            if unfinished:
                # What ended it was the first case that it did not finish, unless the next processes fare no better.
                code = 6
                fruitless = fruitless + 1 if len(unfinished) == len(batch) else 0
                self.progress.clear()
                print(f"sweep.py: {unfinished[0].name}: rope-bench ended without its row; --resume tries again",
                      file=sys.stderr)
                if fruitless == MOST_FRUITLESS:
                    raise SweepError(f"rope-bench ended {fruitless} times without any row", 6)
                still_missing.remove(unfinished[0])
            worst = max(worst, code, key=SEVERITY.index)
            cases = [case for case in cases if case in still_missing]
        return worst

    def run(self):
        total = sum(len(job.cases) for job in self.jobs)
        left = sum(len(self.missing(job)) for job in self.jobs)
        self.progress = Progress(total, left, self.options.quiet)
        codes = []
        try:
            codes = [self.run_job(job) for job in self.jobs]
        finally:
            self.progress.clear()
            self.file.finish()
            self.file.close()
        own_s = time.monotonic() - self.options.start - self.inside_s
        if not self.options.quiet:
            print(f"sweep.py: {left} of {total} cases run in {human_seconds(self.inside_s + own_s)}, "
                  f"{own_s:.2f} s of it outside of rope-bench; {len(self.file.rows)} rows in {self.options.output}",
                  file=sys.stderr)
        return self.exit_code(codes)

    def exit_code(self, codes):
        statuses = {row["status"] for row in self.file.rows}
        if any(code == 6 for code in codes) or "error" in statuses:
            return 6
        if "failed" in statuses:
            return 1
        # A shard may well have only rows that are skipped.
        return 0 if self.options.shard or statuses & {"passed", "unchecked"} else 5


def run(options, jobs):
    # A shard may well be empty: its CSV is then too, and merges as any other.
    if not options.shard and not any(job.cases for job in jobs):
        raise SweepError("the sweep has no case", 5)
    return Sweeper(options, jobs).run()
