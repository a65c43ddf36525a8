"""scripts/cold_evidence, scripts/spread and scripts/gate_counts against programs that stand in for ncu and rope-bench."""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts")

# Plays ncu: writes the rows that rope-bench would, and prints counters. READ_OFF: a factor on what was read.
FAKE_NCU = """#!{python}
import json, os, sys
if os.environ.get("NO_COUNTERS"):
    print("==ERROR== ERR_NVGPUCTRPERM")
    sys.exit(1)
assert "--cache-control" in sys.argv and "--profile" in sys.argv, sys.argv
path = [word for word in sys.argv if word.startswith("json:")][0][5:]
rows = []
print('"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"')
for i, tokens in enumerate(({tokens})):
    tensors = tokens * 10240
    rows.append(dict(name="T%d" % tokens, cache="cold", status="unchecked", num_tokens=tokens, bytes_read=tensors,
                     bytes_write=tensors, bytes_table=0, bytes_positions=0, bytes_total=2 * tensors))
    print('"%d","k","dram__bytes_read.sum","byte","%s"' % (i, format(int(tensors * {read}), ",")))
    print('"%d","k","dram__bytes_write.sum","byte","%s"' % (i, format(int(tensors * {write} - 30e6), ",")))
json.dump(dict(env=dict(model="X", l2_bytes=50 << 20), results=rows), open(path, "w"))
"""

# Plays rope-bench: the n-th process reports RATIOS[n].
FAKE_BENCH = """#!{python}
import json, os, sys
count = os.path.join(os.path.dirname(sys.argv[0]), "count")
n = len(open(count).read()) if os.path.exists(count) else 0
open(count, "a").write("x")
path = [word for word in sys.argv if word.startswith("json:")][0][5:]
ratio, half = {ratios}[n], {half}
row = dict(name="c", cache="cold", time_median_us=10 / ratio, limit_ratio=ratio, limit_ratio_ci_low=ratio - half,
           limit_ratio_ci_high=ratio + half, labels=[])
skipped = dict(row, name="s", limit_ratio=None)
json.dump(dict(env=dict(model="X"), floor=dict(time_us=0.5 + 0.01 * n), results=[row, skipped]), open(path, "w"))
"""


# Plays rope-bench gate: every gate finds the same verdicts.
FAKE_GATE = """#!{python}
import json, sys
assert sys.argv[1] == "gate" and "--exit-zero" in sys.argv, sys.argv
path = [word for word in sys.argv if word.startswith("json:")][0][5:]
cases = [dict(name=v, cache="cold", verdict=v, slowdown_percent=s, base_time_us=20)
         for v, s in (("pass", 0.1), ("regression", 3.0))]
json.dump(dict(cases=cases), open(path, "w"))
"""


class Evidence(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def program(self, text):
        path = os.path.join(self.folder.name, "program")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def run_script(self, script, *arguments, **environment):
        return subprocess.run([sys.executable, os.path.join(SCRIPTS, script), *arguments], capture_output=True, text=True,
                              env={**os.environ, **environment})

    def cold(self, tokens="4096, 16384, 65536", read=1.0, write=1.0, **environment):
        ncu = self.program(FAKE_NCU.format(python=sys.executable, tokens=tokens, read=read, write=write))
        return self.run_script("cold_evidence", "--ncu", ncu, "-c", "x", **environment)

    # 5 of 10: Clopper and Pearson's 95 % interval is 18.71 to 81.29 %, as tables have it.
    def test_reds_are_counted(self):
        program = self.program(FAKE_GATE.format(python=sys.executable))
        done = self.run_script("gate_counts", "-n", "5", "--binary", program, "-c", "x")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("5 of 10 comparisons red: 50.00 % (18.71 to 81.29 %)", done.stdout)
        self.assertIn("| pass | cold | 5 | 0 |", done.stdout)
        self.assertEqual(self.run_script("gate_counts", "-n", "5").returncode, 2)

    def test_what_was_seen_is_kept(self):
        """A gate that fails, or a limit of time, costs none of the verdicts before it."""
        kept = os.path.join(self.folder.name, "kept.csv")
        slow = self.program(FAKE_GATE.format(python=sys.executable) + "import time; time.sleep(0.3)\n")
        done = self.run_script("gate_counts", "-n", "1000", "--seconds", "0.5", "--csv", kept, "--binary", slow, "-c", "x")
        self.assertEqual(done.returncode, 0, done.stderr)
        gates = int(done.stdout.split()[0])
        self.assertTrue(1 <= gates <= 2, done.stdout)
        self.assertIn(f"\n{gates} of {2 * gates} comparisons red", done.stdout)
        failing = self.program(FAKE_GATE.format(python=sys.executable) + f"sys.exit(open({kept!r}).read().count('\\n') > {2 * gates})\n")
        done = self.run_script("gate_counts", "-n", "5", "--csv", kept, "--binary", failing, "-c", "x")
        self.assertEqual(done.returncode, 6)
        with open(kept, encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 2 * gates + 2)

    def gate_of(self, cases):
        return self.program(f"""#!{sys.executable}
import json, sys
path = [word for word in sys.argv if word.startswith("json:")][0][5:]
json.dump(dict(cases={cases!r}), open(path, "w"))
""")

    def test_only_what_was_measured_is_counted(self):
        """Whatever the verdict is called: without a slowdown nothing was compared."""
        measured = {"name": "m", "cache": "cold", "verdict": "pass", "slowdown_percent": 0.1, "base_time_us": 20}
        absent = [{"name": verdict, "cache": "cold", "verdict": verdict, "slowdown_percent": None, "base_time_us": None,
                   "reason": reason} for verdict, reason in (("inconclusive", "no variant x"), ("missing", "it was skipped"),
                                                             ("new", None), ("wrong", "2 elements over"))]
        done = self.run_script("gate_counts", "-n", "3", "--binary", self.gate_of([measured, *absent]), "-c", "x")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0 of 3 comparisons red", done.stdout)
        for text in ("inconclusive, no variant x", "missing, it was skipped", "new, no reason given", "wrong, 2 elements over"):
            name = text.partition(",")[0]
            self.assertIn(f"gate_counts: {name} (cold) was not measured in 3 of 3 gates: {text}\n", done.stderr)
            self.assertNotIn(name, done.stdout)
        done = self.run_script("gate_counts", "-n", "2", "--binary", self.gate_of(absent), "-c", "x")
        self.assertEqual((done.returncode, done.stdout), (6, ""))
        self.assertIn("gate_counts: no case was measured\n", done.stderr)

    def test_binaries_that_are_none(self):
        folder = self.folder.name
        for name, text, mode in (("garbage", b"\x00\x01garbage", 0o755), ("plain", b"#!/bin/sh\n", 0o644),
                                 ("silent", b"#!/bin/sh\n", 0o755)):
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(text)
            os.chmod(path, mode)
        other = self.program(f"#!{sys.executable}\nimport sys\n"
                             "open([w for w in sys.argv if w.startswith('json:')][0][5:], 'w').write('[1]')\n")
        for script in ("spread", "gate_counts"):
            for binary in ("no-such-program", folder, *(os.path.join(folder, name) for name in ("garbage", "plain"))):
                done = self.run_script(script, "-n", "2", "--binary", binary, "-c", "x")
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, rf"\A{script}: cannot start .*; --binary names another rope-bench\n\Z")
            for binary in (os.path.join(folder, "silent"), other):
                done = self.run_script(script, "-n", "2", "--binary", binary, "-c", "x")
                self.assertEqual((done.returncode, done.stderr), (
                    2, f"{script}: {binary} is no rope-bench: it ended with 0 and wrote no results\n"))

    def test_wrong_calls_of_the_program(self):
        """Its exit code 2 is that of a wrong call here too."""
        refuses = self.program(f"#!{sys.executable}\nimport sys\nprint('what?', file=sys.stderr)\nsys.exit(2)\n")
        for script in ("spread", "gate_counts"):
            done = self.run_script(script, "-n", "2", "--binary", refuses, "--bogus")
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn("what?\n", done.stderr)

    def test_files_that_cannot_be_written(self):
        """Said before the first run; a file that is there is left as it is, one that is not is not made."""
        log = os.path.join(self.folder.name, "log")
        program = self.program(f"#!{sys.executable}\nimport sys\nopen({log!r}, 'w').write('x')\nsys.exit(6)\n")
        there = os.path.join(self.folder.name, "there")
        with open(there, "w", encoding="utf-8") as file:
            file.write("as it was")
        for script, flag in (("spread", "--json"), ("gate_counts", "--csv")):
            for path in (os.path.join(there, "x"), os.path.join(self.folder.name, "none", "x"), self.folder.name, ""):
                done = self.run_script(script, "-n", "2", flag, path, "--binary", program, "-c", "x")
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, rf"\A{script}: cannot write .*\n\Z")
                self.assertFalse(os.path.exists(log), path)
        for script, flag in (("spread", "--json"), ("gate_counts", "--csv")):
            for path in (there, os.path.join(self.folder.name, "new")):
                done = self.run_script(script, "-n", "2", flag, path, "--binary", program, "-c", "x")
                self.assertEqual(done.returncode, 6, done.stderr)
        with open(there, encoding="utf-8") as file:
            self.assertEqual(file.read(), "as it was")
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "new")))

    def test_cold_bytes_that_agree(self):
        # L2 keeps 30 MB of every launch's output: that is no fault, and cancels between sizes.
        done = self.cold(read=1.03)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("| T65536 | 671.09 | 691.22 | 1.030 | 671.09 | 641.09 | 1.000 |", done.stdout)
        self.assertIn("2 rows above 4 x L2: within 5 %", done.stdout)

    def test_reads_from_a_cache_are_found(self):
        self.assertEqual(self.cold(read=0.9).returncode, 1)

    def test_writes_twice_are_found(self):
        self.assertEqual(self.cold(write=1.2).returncode, 1)

    def test_small_rows_prove_nothing(self):
        self.assertEqual(self.cold(tokens="64, 1024").returncode, 2)

    def test_counters_that_cannot_be_read(self):
        self.assertEqual(self.cold(NO_COUNTERS="1").returncode, 77)
        self.assertEqual(self.run_script("cold_evidence", "--ncu", "no-such-ncu", "-c", "x").returncode, 77)

    def spread(self, ratios, half):
        binary = self.program(FAKE_BENCH.format(python=sys.executable, ratios=ratios, half=half))
        return self.run_script("spread", "-n", str(len(ratios)), "--binary", binary, "-c", "x")

    def test_spread_and_coverage(self):
        # Median 0.90; (0.91 - 0.89) / 0.90 = 2.22 %; of 0.89, 0.90, 0.90, 0.91 with half-width 0.005 two cover it.
        done = self.spread([0.89, 0.90, 0.90, 0.91], 0.005)
        self.assertEqual(done.returncode, 1)
        self.assertIn("| c | cold | 11.111 | 2.22 | 0.9000 | 2.22 | 2 of 4 | 0 |", done.stdout)
        self.assertIn("floor 0.500 to 0.530 us; 2 of 4 intervals of limit_ratio (50.0 %)", done.stdout)

    def test_spread_of_what_ended_in_time(self):
        binary = self.program(FAKE_BENCH.format(python=sys.executable, ratios=[0.9] * 100, half=0.1) +
                              "import time; time.sleep(0.1)\n")
        done = self.run_script("spread", "-n", "100", "--seconds", "3", "--binary", binary, "-c", "x")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(int(done.stdout.split()[0]), range(2, 32), done.stdout)
        done = self.run_script("spread", "-n", "100", "--seconds", "0", "--binary", binary, "-c", "x")
        self.assertEqual((done.returncode, done.stderr), (6, "spread: fewer than two processes ended\n"))

    def test_wide_intervals_cover(self):
        self.assertEqual(self.spread([0.89, 0.90, 0.90, 0.91], 0.011).returncode, 0)

    def test_a_run_that_fails(self):
        self.assertEqual(self.run_script("spread", "-n", "2", "--binary", "false", "-c", "x").returncode, 6)
        self.assertEqual(self.run_script("spread", "-n", "2").returncode, 2)


if __name__ == "__main__":
    unittest.main()
