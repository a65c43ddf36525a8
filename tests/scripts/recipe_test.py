"""The recipe for CI, on the CPU; and that the workflow is YAML.

Usage: recipe_test.py PATH_OF_ROPE_BENCH
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.path.abspath(sys.argv.pop(1))
CONFIG = {
    "name": "b",
    "model": {"num_heads": 1, "head_dim": 64},
    "tokens": [3, 5],
    "measure": {"cache": "warm", "max_time_s": 0.5},
}


class Recipe(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        with open(self.path("b.json"), "w") as file:
            json.dump(CONFIG, file)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def recipe(self, *compare, run=(), **env):
        args = ["base.json", "--config", "b", "--device", "cpu", *run, "--", *compare]
        return subprocess.run(
            [os.path.join(ROOT, "scripts", "gate_recipe"), *args],
            cwd=self.folder.name,
            env={**os.environ, "ROPE_BENCH": BINARY, "SUMMARY": "summary.md", **env},
            capture_output=True,
            text=True,
        )

    def summary(self):
        with open(self.path("summary.md")) as file:
            return file.read()

    def edit(self, change):
        with open(self.path("base.json")) as file:
            results = json.load(file)
        for row in results["results"]:
            change(row)
        with open(self.path("base.json"), "w") as file:
            json.dump(results, file)

    def test_first_run_is_the_baseline_later_ones_are_compared(self):
        first = self.recipe()
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertTrue(os.path.exists(self.path("base.json")))

        # Whatever noise this machine has, launches of a second were slower, those of a femtosecond faster.
        def times(us):
            def change(row):
                row["limit_family_version"] = 99
                for key in ("time_median_us", "time_ci_low_us", "time_ci_high_us"):
                    row[key] = us

            return change

        self.edit(times(1e-9))
        slower = self.recipe("--floor", "0")
        self.assertEqual(slower.returncode, 3, slower.stderr)
        self.assertIn("| regression |", self.summary())
        self.assertIn("compare: 2 regression", self.summary())

        self.edit(times(1e6))
        faster = self.recipe(UPDATE="1")
        self.assertEqual(faster.returncode, 0, faster.stderr)
        self.assertIn("2 improvement", self.summary())
        with open(self.path("base.json")) as base, open(self.path("base.new.json")) as new:
            self.assertEqual(base.read(), new.read())

    def test_what_is_slowed_on_purpose_is_no_baseline(self):
        slowed = self.recipe(run=("--inject-slowdown", "25%"))
        self.assertEqual(slowed.returncode, 2, slowed.stderr)
        self.assertIn("a slowdown is planted in BASE", slowed.stderr)
        self.assertFalse(os.path.exists(self.path("base.json")))

    def test_what_has_no_times_is_no_baseline(self):
        """Every later run would be inconclusive against it."""
        done = self.recipe(run=("--no-measure",))
        self.assertEqual((done.returncode, done.stderr), (4, "gate: the first run is no baseline: a row has no time, or fewer than six rounds\n"))
        self.assertFalse(os.path.exists(self.path("base.json")))

    def test_a_noisy_first_run_is_a_baseline(self):
        noisy = self.path("noisy")
        with open(noisy, "w") as file:
            file.write(f"""#!{sys.executable}
import json, subprocess, sys
done = subprocess.run([{BINARY!r}, *sys.argv[1:]])
if sys.argv[1] == "run":
    path = sys.argv[-1].partition(":")[2]
    results = json.load(open(path))
    for row in results["results"]:
        row["limit_ratio_ci_low"], row["limit_ratio_ci_high"] = 0.1 * row["limit_ratio"], 9 * row["limit_ratio"]
        row["time_median_us"], row["time_ci_low_us"], row["time_ci_high_us"] = 1000, 100, 9000
    json.dump(results, open(path, "w"))
sys.exit(done.returncode)
""")
        os.chmod(noisy, 0o755)
        self.assertEqual(self.recipe(ROPE_BENCH=noisy).returncode, 0)
        self.assertTrue(os.path.exists(self.path("base.json")))

    def test_flags_of_compare_are_checked_before_the_run(self):
        with open(self.path("b.json"), "w") as file:
            file.write("{")  # which a run would complain of
        for flags, text in ((("--margn", "3%"), "did you mean --margin?"), (("--margin", "x"), "--margin x: allowed"),
                            (("--margins", "none.json"), "none.json: No such file"), (("base.json",), 'unexpected "base.json"'),
                            (("-o", "xml:x"), 'unknown format "xml"')):
            done = self.recipe(*flags)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)
            self.assertNotIn("b.json:", done.stderr)
        for flags in (("--margin", "3%", "--floor", "1us", "--force"), ("-o", "json:report.json"), ("--exit-zero",)):
            done = self.recipe(*flags, UPDATE="1")
            self.assertIn("b.json:", done.stderr)  # the run was started
        self.assertFalse(os.path.exists(self.path("report.json")))

    def test_files_that_would_be_lost(self):
        """The same file under any name is refused before anything is removed or run."""
        first = self.recipe()
        self.assertEqual(first.returncode, 0, first.stderr)
        os.mkdir(self.path("sub"))
        os.symlink("base.json", self.path("link.json"))
        os.link(self.path("base.json"), self.path("hard.json"))
        os.symlink(".", self.path("here"))
        os.mkfifo(self.path("pipe"))
        with open(self.path("base.json")) as file:
            before = file.read()
        same = ("base.json", "./base.json", "sub/../base.json", "link.json", "hard.json", "here/base.json",
                self.path("base.json"))
        calls = [({name: path}, f"{name} {path} is the baseline") for name in ("NEW", "SUMMARY") for path in same]
        calls += [({"NEW": "b.json"}, "NEW b.json is what b reads"), ({"NEW": "pipe"}, "NEW pipe is no regular file"),
                  ({"SUMMARY": "here/b.json"}, "SUMMARY here/b.json is what b reads"),
                  ({"NEW": "x", "SUMMARY": "./x"}, "SUMMARY ./x is NEW")]
        listed = sorted(os.listdir(self.folder.name))
        for environment, text in calls:
            done = self.recipe(**environment)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"gate: {text}\n"))
            with open(self.path("base.json")) as file:
                self.assertEqual(file.read(), before)
            self.assertEqual(sorted(os.listdir(self.folder.name)), listed)
        os.unlink(self.path("base.json"))  # nor may the first run's baseline be its NEW
        done = self.recipe(NEW="./base.json")
        self.assertEqual((done.returncode, done.stderr), (2, "gate: NEW ./base.json is the baseline\n"))

    def test_says_how_it_is_used_and_passes_errors_on(self):
        usage = subprocess.run(
            [os.path.join(ROOT, "scripts", "gate_recipe")], capture_output=True, text=True
        )
        self.assertEqual(usage.returncode, 2)
        self.assertIn("Usage: gate_recipe", usage.stdout)
        with open(self.path("b.json"), "w") as file:
            file.write("{")
        self.assertEqual(self.recipe().returncode, 2)
        self.assertFalse(os.path.exists(self.path("base.json")))


class Workflow(unittest.TestCase):
    def test_is_yaml_whose_steps_do_something(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("no yaml")
        with open(os.path.join(ROOT, "docs", "ci", "github-actions.yml")) as file:
            workflow = yaml.safe_load(file)
        steps = workflow["jobs"]["gate"]["steps"]
        self.assertTrue(all("run" in step or "uses" in step for step in steps))
        text = "\n".join(step.get("run", "") for step in steps)
        self.assertIn("scripts/gate_recipe", text)
        self.assertIn("gate --base", text)


if __name__ == "__main__":
    unittest.main()
