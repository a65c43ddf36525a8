"""Results files that compare, gate and calibrate read and write. Usage: compare_files_test.py BINARY"""
import csv
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest

from locales import comma_locales

BINARY = ""

CONFIG = {
    "name": "tiny",
    "model": {"num_heads": 1, "head_dim": 64},
    "rope": {"theta": 1234567.5},
    "measure": {"cache": "warm", "max_time_s": 0.01},
    "tokens": [3, 5],
}
FORMATS = ("table", "json", "csv", "markdown")
# Of a row that takes 22.25 us and reaches 3/4 of its limit.
TIMES = {
    "time_median_us": 22.25,
    "time_ci_low_us": 22.125,
    "time_ci_high_us": 22.375,
    "limit_ratio": 0.75,
    "limit_ratio_ci_low": 0.749,
    "limit_ratio_ci_high": 0.751,
}
MEASURED = {**TIMES, "num_rounds": 31}
NAMES = ["a,b", 'with "quotes"', "two\nlines", "and\r\nthese", "semi;colon", "bar|bar", "back\\slash", "=1+1", "tab\there", "ü€",
         " spaces ", "'", '"', ",", "-"]


def flattened(name):
    """As a name stands in one line of a table."""
    return name.replace("\n", " ").replace("\r", " ").replace("\t", " ")


class CompareFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = cls.scratch.name
        cls.write("tiny.json", json.dumps(CONFIG))
        done = cls.run_bench("run", "-c", "tiny", "-d", "cpu", "-q", "-o", "json:run.json", "-o", "csv:run.csv")
        assert done.returncode == 0, done.stderr
        cls.document = json.loads(cls.read("run.json"))
        cls.heading, cls.record = list(csv.reader(io.StringIO(cls.read("run.csv"))))[:2]

    @classmethod
    def write(cls, name, text):
        with open(os.path.join(cls.folder, name), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    @classmethod
    def read(cls, name):
        with open(os.path.join(cls.folder, name), encoding="utf-8", newline="") as file:
            return file.read()

    @classmethod
    def run_bench(cls, *words, **options):
        # Bytes, or line ends inside of fields would be lost.
        done = subprocess.run([BINARY, *words], cwd=cls.folder, stdout=options.pop("stdout", subprocess.PIPE),
                              stderr=subprocess.PIPE, check=False, **options)
        done.stdout, done.stderr = (done.stdout or b"").decode(), done.stderr.decode()
        return done

    def csv_text(self, names, delimiter=",", **changes):
        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter)
        writer.writerow(self.heading)
        record = {**dict(zip(self.heading, self.record)), **{key: str(value) for key, value in MEASURED.items()}, **changes}
        for name in names:
            record["name"] = name
            writer.writerow(record.values())
        return out.getvalue()

    def rows(self, names):
        row = {key: value for key, value in self.document["results"][0].items() if not isinstance(value, (dict, list))}
        return [{**row, **MEASURED, "name": name} for name in names]

    def results_text(self, fmt, names):
        if fmt == "csv":
            return self.csv_text(names)
        if fmt == "jsonl":
            return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in self.rows(names))
        return json.dumps({**self.document, "results": self.rows(names)})

    def refusal(self, base, new="good.csv"):
        done = self.run_bench("compare", base, new)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def processor_seconds(self, *words):
        """Of the processor, which other programs on the machine do not lengthen as they do the clock's."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = self.run_bench(*words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_a_hundred_thousand_cases(self):
        """The time grows with the number of cases, not with its square: in any build, on any machine."""
        slower = {"0.75,": "0.5,", "0.749": "0.499", "0.751": "0.501"}
        for fmt in ("csv", "jsonl"):
            heading, row = ([""] + self.results_text(fmt, ["many/T0"]).splitlines(keepends=True))[-2:]
            slow = row
            for old, new in slower.items():
                self.assertIn(old, row)
                slow = slow.replace(old, new)
            names = [f"many/T{i}" for i in range(100000)]
            seconds = {}
            for count in (10000, 100000):
                for file in ("many.base", "many.new"):
                    rows = [(slow if file == "many.new" and i == 7777 else row).replace("many/T0", name)
                            for i, name in enumerate(names[:count])]
                    self.write(file, heading + "".join(rows))
                done, seconds[count] = self.processor_seconds("compare", "many.base", "many.new", "-o", "csv:many.verdicts")
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(f"\ncompare: {count - 1} pass, 1 regression; regression: many/T7777; margin 2 %", done.stdout)
                verdicts = list(csv.reader(io.StringIO(self.read("many.verdicts"))))[1:]
                self.assertEqual([row[0] for row in verdicts], names[:count])
                self.assertEqual(["regression" in row for row in verdicts].index(True), 7777)
            print(f"{fmt}, seconds by cases: {seconds}", file=sys.stderr)
            self.assertLess(seconds[100000], 30 * seconds[10000])
            for file in ("many.base", "many.new", "many.verdicts"):
                os.remove(os.path.join(self.folder, file))

    def test_names_survive(self):
        for fmt in ("json", "jsonl", "csv"):
            self.write("names", self.results_text(fmt, NAMES))
            outputs = [word for output in FORMATS for word in ("-o", f"{output}:names.{output}")]
            done = self.run_bench("compare", "names", "names", *outputs)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = list(csv.reader(io.StringIO(self.read("names.csv")), strict=True))
            self.assertEqual([row[0] for row in rows[1:]], NAMES, fmt)
            self.assertEqual({len(row) for row in rows}, {len(rows[0])}, fmt)
            cases = json.loads(self.read("names.json"))["cases"]
            self.assertEqual([case["name"] for case in cases], NAMES, fmt)
            lines = self.read("names.markdown").splitlines()
            cells = [line for line in lines if line.startswith("| ")][1:]
            self.assertEqual([cell for cell in cells if cell.startswith("| ---")], cells[:1])
            self.assertEqual(len(cells) - 1, len(NAMES))
            for name, cell in zip(NAMES, cells[1:]):
                escaped = flattened(name).replace("\\", "\\\\").replace("|", "\\|")
                self.assertTrue(cell.startswith(f"| {escaped} |"), cell)
            self.assertEqual(len(self.read("names.table").splitlines()), 2 + len(NAMES) + 1)

    def test_outputs_that_cannot_be_written(self):
        self.write("good.csv", self.csv_text(["a"]))
        few = ("-c", "tiny", "-d", "cpu", "--rounds", "2")
        commands = {
            "compare": ("compare", "good.csv", "good.csv"),
            "gate": ("gate", *few, "--base-variant", "naive"),
            "calibrate": ("calibrate", *few, "--sessions", "2"),
        }
        os.mkdir(os.path.join(self.folder, "folder"))
        self.addCleanup(os.rmdir, os.path.join(self.folder, "folder"))
        for name, command in commands.items():
            for fmt in FORMATS:
                folder = self.run_bench(*command, "-o", f"{fmt}:folder")
                self.assertEqual((folder.returncode, folder.stdout, folder.stderr),
                                 (2, "", "rope-bench: cannot write folder: it is a folder\n"), name)
            outputs = ("-o", "json:/dev/full", "-o", f"csv:{name}.csv")
            full = self.run_bench(*command, *outputs)
            self.assertEqual(full.returncode, 6, full.stderr)
            self.assertTrue(full.stderr.endswith("rope-bench: cannot write /dev/full: No space left on device\n"), full.stderr)
            self.assertEqual(full.stderr.count("/dev/full"), 1)
            self.assertIn(f"\n{name}: ", full.stdout)
            self.assertTrue(self.read(f"{name}.csv").startswith("name,"))
            if name == "calibrate":
                continue  # which takes long, and writes as the others do
            with open("/dev/full", "wb") as device:
                full = self.run_bench(*command, "-o", "json", stdout=device)
            self.assertEqual(full.returncode, 6, full.stderr)
            self.assertTrue(full.stderr.endswith("rope-bench: cannot write to stdout: No space left on device\n"), full.stderr)
        written = self.run_bench(*commands["calibrate"], "--write", "folder")
        self.assertEqual((written.returncode, written.stderr), (2, "rope-bench: cannot write folder: it is a folder\n"))

    def test_baselines_that_are_none(self):
        self.write("good.csv", self.csv_text(["a", "b"]))
        for fmt in ("json", "jsonl", "csv"):
            text = self.results_text(fmt, ["a", "b"])
            self.write("cut", text[:-30])
            self.assertIn("truncated", self.refusal("cut"))
            self.write("twice", self.results_text(fmt, ["a", "b", "a"]))
            self.assertIn('the same case as twice', self.refusal("twice"))
            self.write("nan", text.replace("22.375", "NaN" if fmt == "csv" else '"NaN"', 1))
            self.assertIn('time_ci_high_us is "NaN"; allowed: a number above 0, or none', self.refusal("nan"))
            self.write("status", text.replace("passed", "pased", 1))
            self.assertIn('status is "pased"; allowed: passed, failed,', self.refusal("status"))
            self.write("turned", text.replace("22.375", "22.0625", 1))
            self.assertIn("time_ci_low_us is 22.125, time_ci_high_us is 22.0625; allowed: low up to high", self.refusal("turned"))
            for bad in ("cut", "twice", "nan", "status", "turned"):  # as NEW, and where nothing is to be lost
                self.assertEqual(self.run_bench("compare", "good.csv", bad, "--force", "--exit-zero").returncode, 2)
            self.write("others", self.results_text(fmt, ["c", "d"]))
            done = self.run_bench("compare", "good.csv", "others", "--force")
            self.assertEqual((done.returncode, done.stderr.splitlines()[-1]),
                             (5, "rope-bench: good.csv and others have no common case"))
        self.write("newer", json.dumps({**self.document, "schema_version": 2}))
        self.assertIn("schema_version 2; this rope-bench reads 1", self.refusal("newer", "run.json"))
        self.assertIn("schema_version 2; this rope-bench reads 1", self.refusal("run.json", "newer"))

    def test_decimal_commas_in_a_baseline(self):
        """C178: as a spreadsheet writes them where decimals have commas; never read as other numbers."""
        self.write("good.csv", self.csv_text(["a"]))
        for column, value in TIMES.items():
            comma = str(value).replace(".", ",")
            for delimiter in (",", ";"):  # in quotes, and as they are
                self.write("commas.csv", self.csv_text(["a"], delimiter, **{column: comma}))
                self.assertEqual(self.refusal("commas.csv"),
                                 f'rope-bench: commas.csv:2: {column} is "{comma}"; allowed: a number above 0, or none\n')
        self.write("commas.csv", self.csv_text(["a"]).replace("22.25", "22,25", 1))
        self.assertIn("fields, the heading has", self.refusal("commas.csv"))
        self.write("commas.csv", self.csv_text(["a"], ";", theta="1234567,5"))
        self.assertIn('theta: "1234567,5" in BASE, "1234567.5" in NEW', self.refusal("commas.csv"))

    def test_locales_with_decimal_commas(self):
        """C178: nothing that is read or written depends on the locale."""
        environments = comma_locales(self.folder)
        if not environments:
            self.skipTest("no locale with a decimal comma is installed, nor the sources of one")
        self.write("base.csv", self.csv_text(["a", "b"]))
        new = self.results_text("json", ["a", "b"])
        for old, slower in (("0.75,", "0.7375,"), ("0.749", "0.7365"), ("0.751", "0.7385")):
            new = new.replace(old, slower)
        self.write("new.json", new)
        for env in environments:
            for fmt in FORMATS:
                words = ("compare", "base.csv", "new.json", "--force", "--floor", "0.25us", "-o", fmt)
                for margin, code in (("1.25%", 3), ("2.5 %", 0)):
                    plain = self.run_bench(*words, "--margin", margin)
                    commas = self.run_bench(*words, "--margin", margin, env=env)
                    self.assertEqual((commas.returncode, commas.stdout, commas.stderr), (code, plain.stdout, plain.stderr))
                self.assertIn("1.69", commas.stdout, fmt)
            if env is not environments[0]:
                continue  # measuring takes long
            run = self.run_bench("-c", "tiny", "-d", "cpu", "-q", "-o", "json", "-o", "csv:commas.csv", env=env)
            rows = json.loads(run.stdout)["results"]
            for row, record in zip(rows, csv.DictReader(io.StringIO(self.read("commas.csv")), strict=True)):
                self.assertEqual((row["theta"], record["theta"]), (1234567.5, "1234567.5"))
                self.assertEqual(float(record["time_median_us"]), row["time_median_us"])
            gate = ("gate", "-c", "tiny", "-d", "cpu", "--rounds", "2", "--base-variant", "naive", "--exit-zero", "-o", "json")
            done = self.run_bench(*gate, "--margin", "2.5%", "--floor", "0", env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            for case in json.loads(done.stdout)["cases"]:
                self.assertAlmostEqual(case["margin_percent"], 2.5)
            for refused in (("--margin", "2,5%"), ("--floor", "0,3us"), ("--inject-slowdown", "5,5%")):
                done = self.run_bench(*gate, *refused, env=env)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertTrue(done.stderr.startswith(f"rope-bench: {' '.join(refused)}: allowed: "), done.stderr)


if __name__ == "__main__":
    BINARY = os.path.realpath(sys.argv.pop(1))
    unittest.main()
