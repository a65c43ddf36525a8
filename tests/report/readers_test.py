"""Every output format read back by what people read it with: csv, json, xml.etree, pandas, compare.py.

Usage: readers_test.py BINARY. Reads the expected files of format_test.cpp, whose names and reasons are hard on every
grammar, and what BINARY writes on the CPU in all formats at once.
"""
import csv
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "..", "data", "report")
COMPARE = "/usr/share/benchmark/compare.py"  # Debian's libbenchmark-tools
BINARY = ""

NAME = "a,b;\"c\"\nd & <e> 'f' | `g` \\ caf\u00e9 \U0001f642"
NAMES = [f"{NAME}/{i}" for i in range(4)]
# The second row of the sample is a warm one; formats without columns say so in the name.
ROW_NAMES = [NAMES[0], NAMES[1] + "/warm", NAMES[2], NAMES[3]]

CONFIG = {
    "name": NAME.replace("\n", ";"),  # configs allow no line ends in names
    "model": {"num_heads": 2, "num_kv_heads": 1, "head_dim": 8, "max_position": 64},
    "measure": {"cache": "warm", "max_time_s": 0.01, "precision": 0.1},
    "tokens": [3, 5],
}


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def strict_json(text):
    """JSON without the NaN and Infinity that Python also takes."""
    def refuse(word):
        raise ValueError(word)
    return json.loads(text, parse_constant=refuse)


def markdown_rows(text):
    """Cells of the only table: a bar without a backslash parts them, then escapes and line ends are undone."""
    lines = [line for line in text.split("\n") if line.startswith("| ")]
    def unescaped(cell):
        return re.sub(r"\\(.)", r"\1", cell.strip().replace("<br>", "\n"))
    rows = [[unescaped(c) for c in re.findall(r"((?:\\.|[^|\\])*)\|", line[1:])] for line in lines]
    return rows[0], rows[2:]


def python_with(*modules):
    """An interpreter that has them: packages of the system are the system's own one's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python):
            done = subprocess.run([python, "-c", "import " + ", ".join(modules)], capture_output=True, check=False)
            if done.returncode == 0:
                return python
    return None


# compare.py imports both.
COMPARE_PYTHON = python_with("numpy", "scipy.stats") if os.path.exists(COMPARE) else None
needs_compare_py = unittest.skipUnless(COMPARE_PYTHON, "no compare.py of google-benchmark (libbenchmark-tools) with scipy")


def compare_py(old, new):
    """What compare.py makes of two files."""
    return subprocess.run([COMPARE_PYTHON, COMPARE, "--no-color", "benchmarks", old, new], capture_output=True,
                          text=True, check=False)


class HostileNames(unittest.TestCase):
    """The expected files hostile.*: passed, failed (warm), unsupported, error."""

    def path(self, fmt):
        return os.path.join(EXPECTED, "hostile." + fmt)

    def test_csv(self):
        with open(self.path("csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        self.assertEqual([row["name"] for row in rows], NAMES)
        self.assertEqual([row["reason"] for row in rows], ["", NAME, NAME, NAME])
        self.assertEqual(float(rows[0]["bandwidth_gb_s"]), 1234567.5)
        self.assertEqual(rows[1]["time_median_us"], "")
        for row in rows:
            self.assertNotIn(None, row)  # more fields than the header
            self.assertNotIn(None, row.values())  # fewer

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_pandas(self):
        import pandas
        frame = pandas.read_csv(self.path("csv"))
        self.assertEqual(list(frame["name"]), NAMES)
        self.assertEqual(frame["time_median_us"].dtype.kind, "f")
        self.assertEqual(frame["time_median_us"][0], 22.25)
        self.assertTrue(pandas.isna(frame["time_median_us"][1]))
        self.assertEqual(list(pandas.read_json(self.path("jsonl"), lines=True)["name"]), NAMES)

    def test_json(self):
        rows = strict_json(read(self.path("json")))["results"]
        self.assertEqual([row["name"] for row in rows], NAMES)
        self.assertEqual([row["reason"] for row in rows], [None, NAME, NAME, NAME])

    def test_jsonl(self):
        lines = read(self.path("jsonl")).split("\n")
        self.assertEqual(lines.pop(), "")
        self.assertEqual([strict_json(line)["name"] for line in lines], NAMES)

    def test_markdown(self):
        heading, rows = markdown_rows(read(self.path("markdown")))
        self.assertEqual([row[heading.index("case")] for row in rows], NAMES)
        for row in rows:
            self.assertEqual(len(row), len(heading))
        self.assertEqual([row[heading.index("status")] for row in rows], ["passed", "failed", "unsupported", "error"])

    def test_junit(self):
        root = xml.etree.ElementTree.parse(self.path("junit")).getroot()
        self.assertEqual(root.tag, "testsuites")
        for counts in [root, *root.iter("testsuite")]:
            self.assertEqual([counts.get(key) for key in ("tests", "failures", "errors", "skipped")],
                             ["4", "1", "1", "1"])
        cases = list(root.iter("testcase"))
        self.assertEqual([case.get("name") for case in cases], ROW_NAMES)
        self.assertEqual([[child.tag for child in case if child.tag != "properties"] for case in cases],
                         [[], ["failure"], ["skipped"], ["error"]])
        self.assertTrue(cases[1].find("failure").get("message").endswith(NAME))
        self.assertEqual(cases[2].find("skipped").get("message"), NAME)
        properties = {p.get("name"): p.get("value") for p in cases[0].iter("property")}
        self.assertEqual(float(properties["time_median_us"]), 22.25)

    def test_google_benchmark(self):
        rows = strict_json(read(self.path("google-benchmark")))["benchmarks"]
        self.assertEqual([row["name"] for row in rows], ROW_NAMES)
        self.assertEqual([row.get("error_occurred", False) for row in rows], [False, True, True, True])
        self.assertEqual([row.get("real_time") for row in rows], [22.25, 0, 0, 0])
        self.assertTrue(rows[1]["error_message"].endswith(NAME))

    def test_github_action_benchmark(self):
        for fmt, unit, value in (("github-action-benchmark", "limit_ratio", 0.9662921348314607),
                                 ("github-action-benchmark-time", "us", 22.25)):
            entries = strict_json(read(self.path(fmt)))
            self.assertEqual([(e["name"], e["unit"], e["value"]) for e in entries], [(NAMES[0], unit, value)])


class RealRun(unittest.TestCase):
    """One run that writes every format at once."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        config = cls.file("config")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(CONFIG, file)
        listed = subprocess.run([BINARY, "list", "formats", "-o", "json"], capture_output=True, check=True)
        cls.formats = [row["name"] for row in json.loads(listed.stdout)["formats"]]
        flags = [word for fmt in cls.formats for word in ("-o", f"{fmt}:{cls.file(fmt)}")]
        cls.done = subprocess.run([BINARY, "-c", config, "-d", "cpu", *flags], capture_output=True, text=True,
                                 check=False)

    @classmethod
    def file(cls, name):
        return os.path.join(cls.scratch.name, name)

    def test_every_format_is_written(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        for fmt in self.formats:
            self.assertGreater(os.path.getsize(self.file(fmt)), 100, fmt)
        self.assertEqual(len(os.listdir(self.scratch.name)), len(self.formats) + 1, "a temporary file was left")

    def test_all_tell_the_same(self):
        document = strict_json(read(self.file("json")))
        names = [row["name"] for row in document["results"]]
        times = [row["time_median_us"] for row in document["results"]]
        self.assertEqual(len(names), 2)
        with open(self.file("csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        self.assertEqual([row["name"] for row in rows], names)
        self.assertEqual([float(row["time_median_us"]) for row in rows], times)
        # What a picture needs beside the rows is in every row.
        self.assertEqual(float(rows[0]["floor_us"]), document["floor"]["time_us"])
        self.assertEqual(float(rows[0]["measured_peak_gb_s"]), document["peaks"]["measured_gb_s"])
        self.assertEqual([row["largest_position"] for row in rows], ["2", "4"])
        lines = [strict_json(line) for line in read(self.file("jsonl")).splitlines()]
        self.assertEqual(lines, document["results"])
        heading, cells = markdown_rows(read(self.file("markdown")))
        self.assertEqual([row[heading.index("case")] for row in cells], names)
        warm = [name + "/warm" for name in names]
        root = xml.etree.ElementTree.parse(self.file("junit")).getroot()
        self.assertEqual([case.get("name") for case in root.iter("testcase")], warm)
        google = strict_json(read(self.file("google-benchmark")))["benchmarks"]
        self.assertEqual([(row["name"], row["real_time"]) for row in google], list(zip(warm, times)))
        entries = strict_json(read(self.file("github-action-benchmark-time")))
        self.assertEqual([(row["name"], row["value"]) for row in entries], list(zip(warm, times)))

    @needs_compare_py
    def test_compare_py(self):
        new = self.file("google-benchmark")
        old = strict_json(read(new))
        for row in old["benchmarks"]:
            row["real_time"] *= 2
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "old.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(old, file)
            done = compare_py(path, new)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Half the time: a change of -0.5, in a line for each row.
        self.assertEqual(len(re.findall(r"/warm +-0\.5000 +\+0\.0000 ", done.stdout)), 2, done.stdout)

    @needs_compare_py
    def test_compare_py_with_rows_that_failed(self):
        hostile = os.path.join(EXPECTED, "hostile.google-benchmark")
        done = compare_py(hostile, hostile)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    if not importlib.util.find_spec("pandas") and python_with("pandas"):
        os.execv(python_with("pandas"), [python_with("pandas"), *sys.argv])
    BINARY = sys.argv.pop(1)
    unittest.main()
