"""Sweeps in parts: shards, what puts them together, and what runs them. Usage: sweep_shards_test.py BINARY"""
import csv
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import unittest

sys.dont_write_bytecode = True
from sweep_case import BINARY, ROOT, SWEEP, SweepTest, read  # noqa: E402


class Shards(SweepTest):
    SWEEP = ("tokens", "pairing", "-a", "tokens=1-4")

    def test_merged_they_are_the_whole(self):
        self.checked(*self.SWEEP, "-c", self.config, "-o", "whole.csv")
        whole = read(self.file("whole.csv"))
        for count in (2, 5):
            parts = [f"part{i}of{count}.csv" for i in range(count)]
            for i, part in enumerate(parts):
                self.checked(*self.SWEEP, "-c", self.config, "-o", part, "--shard", f"{i}/{count}")
            merged = f"merged{count}.csv"
            done = self.sweep("--merge", *reversed(parts), "-o", merged)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("none of the files", done.stderr)
            self.assertEqual(read(self.file(merged)), whole)
            # The hash of rope-bench decides what is in a part.
            if count == 2:
                listed = subprocess.run([BINARY, "-c", self.config, "-a", "tokens=1-4", "-a", "variant=fast,naive", "--shard",
                                         "1/2", "-n", "-o", "json"], capture_output=True, check=True)
                self.assertEqual([row["name"] for row in read(self.file(parts[1])) if row["sweep"] == "tokens"],
                                 [case["name"] for case in json.loads(listed.stdout)["cases"]])
        done = self.sweep("--merge", parts[0], parts[1], parts[2], parts[4], "-o", "some.csv")
        absent = {row["case_index"] for row in whole} - {row["case_index"] for i in (0, 1, 2, 4)
                                                          for row in read(self.file(f"part{i}of5.csv"))}
        self.assertIn(f"{len(absent)} of {len(whole)} cases are in none of the files", done.stderr)
        # Also those behind the last that is there.
        with open(self.file("cut.csv"), "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(whole[0]))
            writer.writeheader()
            writer.writerows(whole[:5])
        done = self.sweep("--merge", "cut.csv", "-o", "cut-merged.csv")
        self.assertIn(f"{len(whole) - 5} of {len(whole)} cases are in none of the files; the first is case 5", done.stderr)

    def test_merge_refuses(self):
        self.checked("tokens", "-a", "tokens=1", "-c", self.config, "-o", "a.csv")
        self.checked("pairing", "-a", "tokens=1", "-c", self.config, "-o", "b.csv")
        with open(self.file("c.csv"), "w", encoding="utf-8") as file:
            file.write("a,b\r\n1,2\r\n")
        for words, text in ((("a.csv", "a.csv"), "tiny/rope/fast/bf16/T1 (warm) is in a.csv and in a.csv"),
                            (("a.csv", "b.csv"), "parts of different sweeps: case 0 is tiny/rope/fast/bf16/T1 in a.csv and tiny/"),
                            (("a.csv", "c.csv"), "c.csv: not written by sweep.py: no column name"),
                            (("a.csv", self.config), "tiny.json: JSON, not CSV"),
                            (("a.csv", "none.csv"), "cannot read none.csv: No such file or directory")):
            done = self.sweep("--merge", *words, "-o", "merged.csv")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertFalse(os.path.exists(self.file("merged.csv")))
        self.assertIn("one of the files to read", self.sweep("--merge", "a.csv", "-o", "a.csv").stderr)

    def test_parts_of_other_sweeps(self):
        """Whatever part it is: with other axes, flags, configs, or sweeps in another order."""
        shutil.copy(self.config, self.file("other.json"))
        whole = ("tokens", "pairing", "-a", "tokens=1,2", "-a", "variant=fast", "-c", self.config)
        self.checked(*whole, "--shard", "0/2", "-o", "part.csv")
        others = {"more tokens": (*whole[:3], "tokens=1-4", *whole[4:]),
                  "fewer tokens": (*whole[:3], "tokens=2", *whole[4:]),
                  "another axis": (*whole, "-a", "op=rope"),
                  "another key": (*whole, "--set", "theta=7"),
                  "another config": (*whole[:-1], self.file("other.json")),
                  "a config more": (*whole[:-1], self.file("other.json"), "-c", self.config),
                  "another order": ("pairing", "tokens", *whole[2:]),
                  "another sweep": ("decode", "-a", "tokens=1-8", *whole[4:])}
        for name, words in others.items():
            for shard in ((), ("--shard", "1/2")):
                part = f"{name}{len(shard)}.csv"
                self.checked(*words, *shard, "-o", part)
                done = self.sweep("--merge", "part.csv", part, "-o", "merged.csv")
                self.assertEqual(done.returncode, 2, (name, shard, done.stderr))
                self.assertRegex(done.stderr, r"\Asweep.py: these are parts of different sweeps: .* part\.csv .*\n\Z|"
                                              r"\Asweep.py: .* is in part\.csv and in .*\n\Z|has case .* between them\n\Z")
                self.assertFalse(os.path.exists(self.file("merged.csv")), name)

    def test_merge_leaves_files_that_are_there(self):
        """As a sweep does, whatever they are."""
        self.checked("tokens", "-a", "tokens=1", "-c", self.config, "-o", "a.csv")
        shutil.copy(self.file("a.csv"), self.file("copy.csv"))
        os.symlink("copy.csv", self.file("link.csv"))
        for name in (self.config, "copy.csv", "link.csv"):
            with open(self.file(name), "rb") as file:
                before = file.read()
            done = self.sweep("--merge", "a.csv", "-o", name)
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"sweep.py: {name} is there already; another -o writes a new file\n"))
            with open(self.file(name), "rb") as file:
                self.assertEqual(file.read(), before)
        self.assertTrue(os.path.islink(self.file("link.csv")))

    def test_a_pipe_stays_one(self):
        """So do devices: no file takes their place. Merged rows are written to them; a sweep reads its own rows again."""
        self.checked("tokens", "-a", "tokens=1", "-c", self.config, "-o", "a.csv")
        os.mkfifo(self.file("pipe"))
        os.symlink("pipe", self.file("link"))
        for name in ("pipe", "link"):
            for more in ((), ("--resume",)):
                done = self.sweep("tokens", "-c", self.config, "-d", "cpu", "-o", name, *more)
                self.assertEqual((done.returncode, done.stderr), (
                    2, f"sweep.py: cannot write {name}: it is no regular file, and rows are read again\n"))
            got = []
            reader = threading.Thread(target=lambda: got.append(read(self.file("pipe"))), daemon=True)
            reader.start()
            done = self.sweep("--merge", "a.csv", "-o", name, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(stat.S_ISFIFO(os.stat(self.file("pipe")).st_mode))
            self.assertTrue(os.path.islink(self.file("link")))
            reader.join(60)
            self.assertEqual(got, [read(self.file("a.csv"))])

    def test_parts_that_a_spreadsheet_saved(self):
        """A byte-order mark and columns in another order are no harm; semicolons, and rows cut short, are refused."""
        self.checked(*self.SWEEP, "-c", self.config, "-o", "whole.csv")
        whole = read(self.file("whole.csv"))
        header = list(whole[0])[::-1]
        with open(self.file("saved.csv"), "w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, header, lineterminator="\n")
            writer.writeheader()
            writer.writerows(whole)
        done = self.sweep("--merge", "saved.csv", "-o", "merged.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(read(self.file("merged.csv")), whole)
        with open(self.file("saved.csv"), encoding="utf-8-sig", newline="") as file:
            text = file.read()
        for changed, complaint in ((text.replace(",", ";"), "saved.csv: separated by semicolons; save it with commas"),
                                   (text + "1,2\n", f"row {len(whole) + 2} has not the {len(header)} fields"),
                                   (text.replace("case_index", "case"), "no column case_index"),
                                   ("", "no column name")):
            with open(self.file("saved.csv"), "w", encoding="utf-8", newline="") as file:
                file.write(changed)
            done = self.sweep("--merge", "saved.csv", "-o", "never.csv")
            self.assertEqual(done.returncode, 2)
            self.assertIn(complaint, done.stderr)
        self.assertFalse(os.path.exists(self.file("never.csv")))

    def doc_line(self, start):
        with open(os.path.join(ROOT, "docs", "sweeps.md"), encoding="utf-8") as file:
            lines = [line.rstrip("\n") for line in file if line.startswith(start)]
        self.assertEqual(len(lines), 1, f"docs/sweeps.md: not one line with {start}")
        return lines[0]

    def as_documented(self, line):
        """The line for this machine: the script and the binary of this checkout, the tiny config, the CPU."""
        line = line.replace("scripts/sweep.py", f"{sys.executable} {SWEEP}").replace("-c llama3-8b", f"-c {self.config}")
        return line.replace("-d cuda:{}", f"-d cpu --no-measure --binary {BINARY} -a tokens=1-4")

    @unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not installed")
    def test_parallel_line_of_the_documentation(self):
        for start in ("parallel ", "scripts/sweep.py --merge part0"):
            done = subprocess.run(["bash", "-c", self.as_documented(self.doc_line(start))], capture_output=True, text=True,
                                  cwd=self.folder, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.checked("tokens", "-c", self.config, "-a", "tokens=1-4", "-o", "whole.csv")
        # -d is no part of what a sweep is; the flags are in the same order.
        self.assertEqual(read(self.file("sweep.csv")), read(self.file("whole.csv")))

    def test_slurm_script_without_slurm(self):
        """The script is what each task of an array runs; here two tasks one after the other."""
        os.symlink(os.path.join(ROOT, "scripts"), self.file("scripts"))
        for task in ("0", "1"):
            done = subprocess.run(
                ["bash", os.path.join(ROOT, "scripts", "sweep.sbatch"), "tokens", "-c", self.config, "-a", "tokens=1-4", "-d",
                 "cpu", "--no-measure", "--binary", BINARY], capture_output=True, text=True, cwd=self.folder, check=False,
                env={**os.environ, "SLURM_ARRAY_TASK_ID": task, "SLURM_ARRAY_TASK_COUNT": "2",
                     "SLURM_SUBMIT_DIR": self.folder})
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(read(self.file("part0.csv"))) + len(read(self.file("part1.csv"))), 8)

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_slurm_script_is_clean(self):
        done = subprocess.run(["shellcheck", os.path.join(ROOT, "scripts", "sweep.sbatch")], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
