"""scripts/plot.py: what it draws of rows whose pictures are known, and what it refuses."""
import csv
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SCRIPT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "plot.py"))


def python_with_matplotlib():
    """Packages of the system are its own interpreter's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import matplotlib"], capture_output=True,
                                                     check=False).returncode == 0:
            return python
    return None


PYTHON = python_with_matplotlib()
needs_matplotlib = unittest.skipUnless(PYTHON, "matplotlib is not installed")

TOKENS = (1, 8, 64, 512, 4096)


def row(variant, tokens, **changes):
    """1000 bytes a token at 1 us and 1000 tokens per us: easy to work out."""
    time_us = 1 + tokens / 1000 + (2 if variant == "unfused" else 0)
    values = {"name": f"c/split_rope/{variant}/bf16/T{tokens}", "op": "split_rope", "variant": variant, "dtype": "bf16",
              "cache": "cold", "status": "passed", "num_tokens": tokens, "bytes_total": 1000 * tokens,
              "time_median_us": time_us, "limit_ratio": 0.9, "bandwidth_gb_s": tokens / time_us,
              "percent_of_measured_peak": 100 * tokens / time_us / 2000, "config": "c", "device_model": "Card",
              "largest_position": tokens - 1, "total_max_abs": 1e-6 * tokens, "table_max_abs": 1e-8,
              "kernel_max_abs": 1e-3, "measured_peak_gb_s": 2000, "floor_us": 0.5, "l2_bytes": 2000000}
    values.update(changes)
    return values


def rows(**changes):
    return [row(variant, tokens, **changes) for tokens in TOKENS for variant in ("fast", "unfused")]


class PlotTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def write(self, table, name="a.csv"):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(table[0]), lineterminator="\r\n")
            writer.writeheader()
            writer.writerows(table)

    def plot(self, *words, python=None, **environment):
        return subprocess.run([python or PYTHON or sys.executable, SCRIPT, *words], capture_output=True, text=True,
                              cwd=self.folder, check=False, env={**os.environ, **environment})

    def path(self, name):
        return os.path.join(self.folder, "plots", name)

    def texts(self, name):
        """Everything that is written in an SVG."""
        root = xml.etree.ElementTree.parse(self.path(name)).getroot()
        return " | ".join("".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text"))


@needs_matplotlib
class Pictures(PlotTest):
    def test_every_kind_in_both_formats(self):
        self.write(rows())
        done = self.plot("a.csv", "-o", "plots")
        self.assertEqual(done.returncode, 0, done.stderr)
        # Errors of two variants are two pictures.
        names = ["bandwidth", "ratio", "decode", "fused", "error-fast", "error-unfused"]
        files = [f"{name}.{fmt}" for name in names for fmt in ("png", "svg")]
        self.assertEqual(done.stdout.split(), [os.path.join("plots", name) for name in files])
        self.assertEqual(sorted(os.listdir(self.path(""))), sorted(files))
        for name in files:
            with open(self.path(name), "rb") as file:
                data = file.read()
            self.assertGreater(len(data), 5000, name)
            self.assertTrue(data.startswith(b"\x89PNG" if name.endswith("png") else b"<?xml"), name)

    def test_what_is_written_on_them(self):
        self.write(rows())
        self.assertEqual(self.plot("a.csv", "-o", "plots", "--format", "svg").returncode, 0)
        for name, words in (("bandwidth", ("measured peak, 2000 GB/s", "= L2, 2 MB", "tokens", "fast", "unfused")),
                            ("ratio", ("limit_ratio", "the limit", "4k")),
                            ("decode", ("an empty launch, 0.5 µs", "time per launch, µs", "512")),
                            # (1.001 + 2) / 1.001 and (5.096 + 2) / 5.096
                            ("fused", ("3.00×", "1.39×", "tokens")),
                            ("error-fast", ("largest position", "4095", "end to end", "table", "kernel"))):
            for word in words:
                self.assertIn(word, self.texts(name + ".svg"))
        self.assertNotIn("4k", self.texts("decode.svg"))

    def test_the_same_rows_give_the_same_svg(self):
        self.write(rows())
        texts = []
        for _ in range(2):
            self.assertEqual(self.plot("a.csv", "-o", "plots", "--kind", "ratio", "--format", "svg").returncode, 0)
            with open(self.path("ratio.svg"), encoding="utf-8") as file:
                texts.append(file.read())
        self.assertEqual(texts[0], texts[1])

    def test_unlike_rows_are_in_unlike_pictures(self):
        self.write(rows() + rows(dtype="f32"))
        done = self.plot("a.csv", "-o", "plots", "--kind", "ratio", "--format", "png")
        self.assertEqual(done.stdout.split(), ["plots/ratio-bf16.png", "plots/ratio-f32.png"])
        done = self.plot("a.csv", "-o", "plots", "--kind", "ratio", "--format", "png", "--where", "dtype=f32")
        self.assertEqual(done.stdout.split(), ["plots/ratio.png"])

    def test_several_files_and_wrong_rows(self):
        self.write([row("fast", 1), row("fast", 8, status="failed", limit_ratio="")], "a.csv")
        self.write([row("fast", 64)], "b.csv")
        self.assertEqual(self.plot("a.csv", "-o", "plots", "--kind", "ratio").returncode, 2)
        self.assertEqual(self.plot("a.csv", "b.csv", "-o", "plots", "--kind", "ratio", "--format", "svg").returncode, 0)
        self.assertIn("1 | 64 | tokens", self.texts("ratio.svg"))  # not 8

    def test_kinds_that_rows_are_not_enough_for(self):
        self.write([row("fast", tokens, largest_position="") for tokens in TOKENS])
        done = self.plot("a.csv", "-o", "plots", "--format", "png")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no fused: it takes variant unfused beside another", done.stderr)
        self.assertIn("no error: it takes two values of largest_position", done.stderr)
        done = self.plot("a.csv", "-o", "plots", "--kind", "fused")
        self.assertEqual(done.returncode, 2)

    def test_where_it_cannot_write(self):
        self.write(rows())
        done = self.plot("a.csv", "-o", "a.csv", "--kind", "ratio")
        self.assertEqual((done.returncode, done.stderr.strip()),
                         (2, "plot.py: cannot make the folder a.csv: File exists"))


class WrongCalls(PlotTest):
    def test_one_line_each(self):
        self.write(rows())
        self.write([{"a": 1}], "other.csv")
        self.write([row("fast", 1, status="failed")], "failed.csv")
        with open(os.path.join(self.folder, "a.csv"), encoding="utf-8") as file:
            whole = file.read()
        for name, text in (("empty.csv", ""), ("cut.csv", whole[:-20]), ("a.json", json.dumps({"results": rows()}, indent=2)),
                           ("lines.jsonl", "\n".join(map(json.dumps, rows()))), ("list.json", json.dumps(rows())),
                           ("semicolons.csv", whole.replace(",", ";")), ("decimal.csv", whole.replace(",", ";").replace(".", ",")),
                           ("tabs.csv", whole.replace(",", "\t")), ("mark.csv", "\ufeff" + whole.replace(",", ";"))):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        for words, text in ((("empty.csv",), "empty.csv: no column name"),
                            (("a.json",), "plot.py: a.json: JSON, not CSV; `rope-bench -o csv` and sweep.py write CSV\n"),
                            (("lines.jsonl",), "lines.jsonl: JSON, not CSV"), (("list.json",), "list.json: JSON, not CSV"),
                            (("semicolons.csv",), "plot.py: semicolons.csv: separated by semicolons; save it with commas\n"),
                            (("decimal.csv",), "separated by semicolons"), (("mark.csv",), "separated by semicolons"),
                            (("tabs.csv",), "tabs.csv: separated by tabs; save it with commas"),
                            (("cut.csv",), "not as many fields as the header has"),
                            (("none.csv",), "cannot read none.csv: No such file or directory"),
                            (("other.csv",), "other.csv: no column name; expected a CSV of"),
                            (("failed.csv",), "no row is left: none passed"),
                            (("a.csv", "--kind", "pie"), "--kind pie: allowed are bandwidth, ratio, decode, fused, error"),
                            (("a.csv", "--format", "gif"), "--format gif: allowed are png, svg"),
                            (("a.csv", "--where", "dtype"), "--where dtype: not COLUMN=VALUE"),
                            (("a.csv", "--where", "colour=red"), "--where colour: a.csv has no such column"),
                            (("a.csv", "--where", "dtype=f16"), "--where leaves none")):
            done = self.plot(*words, "-o", "plots")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(text, done.stderr)
        self.assertFalse(os.path.exists(self.path("")))

    def test_without_matplotlib(self):
        self.write(rows())
        blocked = os.path.join(self.folder, "matplotlib")
        os.mkdir(blocked)
        with open(os.path.join(blocked, "__init__.py"), "w", encoding="utf-8") as file:
            file.write("raise ImportError('blocked')\n")
        done = self.plot("a.csv", "-o", "plots", python=sys.executable, PYTHONPATH=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("plot.py: matplotlib is not installed; on Debian and Ubuntu: apt-get install", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)


class Numbers(unittest.TestCase):
    """What needs no picture."""

    @classmethod
    def setUpClass(cls):
        spec = importlib.util.spec_from_file_location("plot", SCRIPT)
        cls.plot = importlib.util.module_from_spec(spec)
        sys.dont_write_bytecode = True
        spec.loader.exec_module(cls.plot)

    def test_where_l2_is_full(self):
        table = [{key: str(value) for key, value in row("fast", tokens).items()} for tokens in TOKENS]
        self.assertEqual(self.plot.tokens_that_fill(2000000, table), 2000)
        self.assertIsNone(self.plot.tokens_that_fill(5000000, table))
        self.assertIsNone(self.plot.tokens_that_fill(500, table))

    def test_the_peak_of_files_that_lack_it(self):
        table = [{key: str(value) for key, value in row("fast", 64).items() if key != "measured_peak_gb_s"}]
        self.assertTrue(math.isclose(self.plot.peak_of(table), 2000))
        self.assertIsNone(self.plot.peak_of([{"name": "x"}]))

    def test_entries_of_suites(self):
        self.assertEqual(self.plot.entry_of({"name": "fused/split/rope/fast/bf16/T1", "config": "fused", "op": "rope"}),
                         "split")
        self.assertEqual(self.plot.entry_of({"name": "a_b-c/split/rope/fast/bf16/T1", "config": "a/b c", "op": "rope"}), "split")
        self.assertEqual(self.plot.entry_of({"name": "llama7b/rope/fast/bf16/T1", "config": "llama7b", "op": "rope"}), "")


if __name__ == "__main__":
    unittest.main()
