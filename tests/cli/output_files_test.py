"""Output files of rope-bench where something is in their way. Usage: output_files_test.py BINARY"""
import csv
import json
import locale
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

from locales import comma_locales

BINARY = ""

CONFIG = {
    "name": "tiny",
    "model": {"num_heads": 2, "num_kv_heads": 1, "head_dim": 8, "max_position": 64},
    "rope": {"theta": 1234567.5},
    "measure": {"cache": "warm"},
    "tokens": [3, 1],
}


def strict_json(text):
    def refuse(word):
        raise ValueError(word)
    return json.loads(text, parse_constant=refuse)


def without_clock(text):
    """Without the lines that hold a time of day, "2026-01-31T12:00:00Z"."""
    return [line for line in text.splitlines() if not re.search(r"\d\d:\d\d:\d\dZ", line)]


class OutputFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        listed = subprocess.run([BINARY, "list", "formats", "-o", "json"], capture_output=True, check=True)
        cls.formats = [row["name"] for row in json.loads(listed.stdout)["formats"]]
        assert len(cls.formats) > 8

    def test_pipes_behind_dev_fd(self):
        """As >(...) of a shell gives them, and stderr that is a pipe."""
        end, pipe = os.pipe()
        done = subprocess.run([BINARY, "-c", "tiny", "-d", "cpu", "--no-measure", "-q", "-o", f"json:/dev/fd/{pipe}", "-o",
                               "csv:/dev/stderr", "-o", "table"], cwd=self.folder, pass_fds=[pipe], capture_output=True,
                              text=True, check=False)
        os.close(pipe)
        with os.fdopen(end, encoding="utf-8") as file:
            self.assertEqual(len(strict_json(file.read())["results"]), 2, done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stderr.startswith("name,"), done.stderr)

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.write("tiny.json", json.dumps(CONFIG))

    def file(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.file(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.file(name), encoding="utf-8", newline="") as file:
            return file.read()

    def run_tiny(self, *words, **options):
        return subprocess.run([BINARY, "-c", "tiny.json", "-d", "cpu", "--no-measure", *words], cwd=self.folder,
                              capture_output=True, text=True, check=False, **options)

    def test_a_full_disk_is_told_and_costs_no_other_file(self):
        for fmt in self.formats:
            done = self.run_tiny("-o", f"{fmt}:/dev/full", "-o", f"{fmt}:good")
            self.assertEqual(done.returncode, 6, fmt)
            self.assertIn("rope-bench: cannot write /dev/full: No space left on device\n", done.stderr)
            # What went elsewhere is what it would have been, but for the clock and the command line.
            self.assertEqual(self.run_tiny("-o", f"{fmt}:again").returncode, 0)
            if fmt == "json":
                self.assertEqual(strict_json(self.read("good"))["results"], strict_json(self.read("again"))["results"])
            else:
                self.assertEqual(without_clock(self.read("good")), without_clock(self.read("again")), fmt)

    def test_a_full_disk_under_stdout(self):
        for fmt in self.formats:
            with open("/dev/full", "wb") as full:
                done = subprocess.run([BINARY, "-c", "tiny.json", "-d", "cpu", "--no-measure", "-q", "-o", fmt],
                                      cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr),
                             (6, "rope-bench: cannot write to stdout: No space left on device\n"), fmt)

    def test_a_disk_that_fills_up_leaves_the_old_file(self):
        """A limit on the size of files stands in for the disk."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        for fmt in self.formats:
            if fmt == "jsonl":
                continue  # grows row by row: its old content is gone by then
            self.write("out", "old")
            # Python ignores the signal that comes with it; so does what inherits that.
            done = self.run_tiny("-o", f"{fmt}:out", preexec_fn=limit, restore_signals=False)
            if fmt.startswith("github"):  # an empty list, as nothing was measured: it fits
                self.assertEqual(self.read("out"), "[]\n")
                continue
            self.assertEqual(done.returncode, 6, fmt)
            self.assertIn("cannot write", done.stderr)
            self.assertEqual(self.read("out"), "old", fmt)
            self.assertEqual(sorted(os.listdir(self.folder)), ["out", "tiny.json"], "a temporary file was left")

    def test_a_folder_is_refused_before_the_run(self):
        os.mkdir(self.file("folder"))
        for fmt in self.formats:
            done = self.run_tiny("-o", f"{fmt}:folder")
            self.assertEqual((done.returncode, done.stderr), (2, "rope-bench: cannot write folder: it is a folder\n"), fmt)
            self.assertEqual(done.stdout, "")
        self.assertEqual(os.listdir(self.file("folder")), [])

    def test_skipped_and_unsupported_rows_keep_every_field(self):
        flags = ["--set", "measure.cache=cold", "-a", "rotary_dim=8,16", "-a", "rope.scaling.type=none,fope"]
        outputs = [word for fmt in self.formats for word in ("-o", f"{fmt}:{fmt}")]
        done = self.run_tiny(*flags, *outputs)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.reader(self.read("csv").splitlines(), strict=True))
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        statuses = [dict(zip(rows[0], row))["status"] for row in rows[1:]]
        self.assertEqual(set(statuses), {"passed", "skipped", "unsupported"})
        for fmt in ("json", "google-benchmark", "github-action-benchmark", "github-action-benchmark-time"):
            strict_json(self.read(fmt))
        self.assertEqual([row["status"] for row in strict_json(self.read("json"))["results"]], statuses)
        self.assertEqual([strict_json(line)["status"] for line in self.read("jsonl").splitlines()], statuses)
        suite = xml.etree.ElementTree.parse(self.file("junit")).getroot()
        self.assertEqual(int(suite.get("skipped")), len(statuses) - statuses.count("passed"))

    def test_decimal_commas(self):
        self.assertEqual(locale.localeconv()["decimal_point"], ".")
        environments = comma_locales(self.folder)
        if not environments:
            self.skipTest("no locale with a decimal comma is installed, nor the sources of one")
        for environment in environments:
            for fmt in self.formats:
                flags = ("--set", "theta=1234567.5", "--set", "measure.timeout_s=1e1", "-q", "-o")
                plain = self.run_tiny(*flags, fmt)
                commas = self.run_tiny(*flags, fmt, env=environment)
                self.assertEqual(commas.returncode, 0, commas.stderr)
                self.assertEqual(without_clock(commas.stdout), without_clock(plain.stdout), fmt)
                if fmt in ("csv", "json", "jsonl"):
                    self.assertIn("1234567.5", commas.stdout)

    def test_a_hundred_thousand_cases_are_listed(self):
        flags = ["-a", "tokens=1-50000", "-a", "dtype=f16,bf16", "--dry-run"]
        start = time.monotonic()
        done = self.run_tiny(*flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [line.split(" ", 1)[0] for line in done.stdout.splitlines()[2:]]
        self.assertEqual(len(set(names)), 100000)
        self.assertIn("100000 cases would be checked", done.stderr)
        self.assertEqual(len(self.run_tiny(*flags, "-k", names[77777]).stdout.splitlines()), 3)
        shards = [self.run_tiny(*flags, "--shard", f"{i}/3").stdout.splitlines()[2:] for i in range(3)]
        self.assertEqual(sorted(line.split(" ", 1)[0] for shard in shards for line in shard), sorted(names))
        for shard in shards:  # of a hash that spreads: 33333, give or take 6 standard deviations of 149
            self.assertLess(abs(len(shard) - 33333), 900)
        self.assertLess(time.monotonic() - start, 60)


if __name__ == "__main__":
    BINARY = os.path.realpath(sys.argv.pop(1))
    unittest.main()
