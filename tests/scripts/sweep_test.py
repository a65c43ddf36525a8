"""scripts/sweep.py on the CPU: what it measures, and what it keeps whatever ends it. Usage: sweep_test.py BINARY"""
import csv
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
from sweep_case import BINARY, ROOT, SWEEP, TINY, SweepTest, names, read  # noqa: E402


class Sweep(SweepTest):
    def test_one_tidy_csv(self):
        done = self.sweep("tokens", "decode", "-c", self.config, "-a", "tokens=1,3", "-d", "cpu", "-o", "out.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = read(self.file("out.csv"))
        self.assertEqual(names(rows), [
            "tiny/rope/fast/bf16/T1", "tiny/rope/naive/bf16/T1", "tiny/rope/fast/bf16/T3", "tiny/rope/naive/bf16/T3",
            "tiny/rope/fast/bf16/T1/positions=decode", "tiny/rope/naive/bf16/T1/positions=decode",
            "tiny/rope/fast/bf16/T3/positions=decode", "tiny/rope/naive/bf16/T3/positions=decode"])
        self.assertEqual([row["sweep"] for row in rows], 4 * ["tokens"] + 4 * ["decode"])
        self.assertEqual([row["case_index"] for row in rows], [str(i) for i in range(8)])
        self.assertEqual(rows[0]["sweep_flags"], f"-c {self.config} -a tokens=1,3 -a variant=fast,naive")
        for row in rows:
            self.assertEqual(row["status"], "passed")
            self.assertGreater(float(row["time_median_us"]), 0)
            self.assertEqual(row["labels"].split(), row["labels"].split(" "))
        self.assertRegex(done.stderr, r"8 of 8 cases run in .* s of it outside of rope-bench; 8 rows in out\.csv")

    def test_columns_are_those_of_rope_bench(self):
        self.checked("tokens", "-c", self.config, "-a", "tokens=2", "-a", "variant=fast", "-o", "out.csv")
        whole = self.file("whole.csv")
        subprocess.run([BINARY, "-c", self.config, "-a", "tokens=2", "-d", "cpu", "--no-measure", "-q", "-o",
                        "csv:" + whole], check=True, capture_output=True)
        ours, theirs = read(self.file("out.csv")), read(whole)
        self.assertEqual(list(ours[0])[:-4], list(theirs[0]))
        self.assertEqual(list(ours[0])[-4:], ["sweep", "case_index", "sweep_flags", "num_cases"])
        for column, value in theirs[0].items():
            try:  # 1 and 1.0 are one number
                self.assertEqual(float(ours[0][column]), float(value), column)
            except ValueError:
                self.assertEqual(ours[0][column], value, column)

    def test_every_named_sweep_has_cases(self):
        listed = subprocess.run([sys.executable, SWEEP, "--list"], capture_output=True, text=True, check=True)
        sweeps = [line.split()[0] for line in listed.stdout.splitlines()]
        self.assertEqual(sweeps, ["tokens", "gqa", "head_dim", "pairing", "scaling", "fused", "decode", "models"])
        for sweep in sweeps:
            done = self.sweep(sweep, "--dry-run")
            self.assertEqual(done.returncode, 0, done.stderr)
            cases = done.stdout.splitlines()
            self.assertEqual(len(cases), len(set(cases)))
            self.assertGreater(len(cases), 5, sweep)
        shipped = subprocess.run([BINARY, "list", "configs", "-o", "json"], capture_output=True, check=True)
        models = {row["name"] for row in json.loads(shipped.stdout)["configs"]} - {"boundary", "fused", "smoke"}
        self.assertEqual({case.split("/")[1] for case in cases}, models)
        self.assertEqual(len(cases), 5 * len(models))

    def test_lines_of_the_documentation(self):
        """Each lists cases; merging and the lines of parallel and Slurm have tests of their own."""
        os.symlink(os.path.join(ROOT, "tests"), self.file("tests"))
        count = 0
        for name in ("README.md", "docs/sweeps.md"):
            with open(os.path.join(ROOT, name), encoding="utf-8") as file:
                lines = [line.partition("  #")[0].split() for line in file if line.startswith("scripts/sweep.py ")]
            for words in lines:
                if words[1] != "--merge":
                    done = self.sweep(*words[1:], "--dry-run")
                    self.assertEqual(done.returncode, 0, " ".join(words) + "\n" + done.stderr)
                    count += 1
        self.assertGreater(count, 4)

    def test_hugging_face_files(self):
        model = os.path.join(ROOT, "tests", "data", "hf", "llama-3.1-8b.json")
        self.checked("pairing", "--hf", model, "-a", "tokens=2", "-o", "out.csv")
        rows = read(self.file("out.csv"))
        self.assertEqual({row["config"] for row in rows}, {"llama-3.1-8b"})
        # A model's file orders its keys as it likes.
        self.assertEqual(sorted((row["pairing"], row["dtype"]) for row in rows),
                         sorted((p, d) for p in ("neox", "gptj") for d in ("f32", "f16", "bf16")))

    def test_rows_that_are_not_right_decide_the_exit_code(self):
        flags = ("tokens", "-c", self.config, "-a", "tokens=1,2", "-d", "cpu", "--no-measure", "-o")
        failed = self.wrapper('line = line.replace(b\'"status":"passed"\', b\'"status":"failed"\') if i == 1 else line')
        self.assertEqual(self.sweep(*flags, "failed.csv", binary=failed).returncode, 1)
        error = self.wrapper('line = line.replace(b\'"status":"passed"\', b\'"status":"error"\') if i == 1 else line')
        self.assertEqual(self.sweep(*flags, "error.csv", binary=error).returncode, 6)
        self.assertEqual([row["status"] for row in read(self.file("error.csv"))],
                         ["passed", "error", "passed", "passed"])
        # An error is no result: it is measured again.
        self.checked(*flags[:5], "-o", "error.csv", "--resume")
        self.assertEqual([row["status"] for row in read(self.file("error.csv"))], 4 * ["passed"])
        self.assertEqual(names(read(self.file("error.csv"))), names(read(self.file("failed.csv"))))


class Resume(SweepTest):
    SWEEP = ("tokens", "-a", "tokens=1-8", "-o")  # 16 cases

    def whole(self):
        self.checked(*self.SWEEP, "whole.csv", "-c", self.config)
        return read(self.file("whole.csv"))

    def kill_after(self, count, path):
        """kill -9 once the file has `count` rows."""
        with open(self.file("stderr"), "wb") as stderr:
            process = subprocess.Popen(
                self.words(*self.SWEEP, path, "-c", self.config, "-d", "cpu", "--no-measure",
                           binary=self.wrapper(delay=0.05)), cwd=self.folder, stderr=stderr)
        self.addCleanup(process.wait)
        end = time.monotonic() + 60
        while time.monotonic() < end and process.poll() is None:
            if os.path.exists(self.file(path)) and len(read(self.file(path))) >= count:
                break
            time.sleep(0.005)
        self.assertIsNone(process.poll(), "it ended before it was killed")
        process.kill()
        process.wait()

    def test_after_kill_9_at_several_points(self):
        whole = self.whole()
        self.assertEqual(len(whole), 16)
        for count in (0, 1, 7, 14):
            path = f"killed{count}.csv"
            self.kill_after(count, path)
            there = read(self.file(path))  # whole rows only
            self.assertGreaterEqual(len(there), count)
            self.assertLess(len(there), 16)
            self.assertEqual(there, whole[:len(there)])
            done = self.checked(*self.SWEEP, path, "-c", self.config, "--resume")
            self.assertIn(f"{16 - len(there)} of 16 cases run", done.stderr)
            self.assertEqual(read(self.file(path)), whole)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".")], [])

    def test_kill_9_leaves_no_rope_bench_behind(self):
        self.kill_after(1, "killed.csv")
        pid = self.started()[0]
        end = time.monotonic() + 20
        while time.monotonic() < end and self.runs(pid):
            time.sleep(0.01)
        self.assertFalse(self.runs(pid))

    @staticmethod
    def runs(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                return file.read().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    def test_a_torn_last_row_is_dropped(self):
        whole = self.whole()
        with open(self.file("whole.csv"), "rb") as file:
            data = file.read()
        lines = data.split(b"\r\n")
        for torn in (lines[5][:40], lines[5], lines[5] + b"\r", b'"in quotes\r\nstill', b'tiny,"x\r\n"'):
            with open(self.file("torn.csv"), "wb") as file:
                file.write(b"\r\n".join(lines[:5]) + b"\r\n" + torn)
            done = self.checked(*self.SWEEP, "torn.csv", "-c", self.config, "--resume")
            self.assertIn("12 of 16 cases run", done.stderr)
            self.assertIn("torn.csv: its last row is not whole and measured again", done.stderr)
            self.assertEqual(read(self.file("torn.csv")), whole)

    def test_every_place_of_a_cut(self):
        """No place in a record is taken for damage, or for more than that record."""
        self.whole()
        sys.path.insert(0, os.path.dirname(SWEEP))
        self.addCleanup(sys.path.remove, os.path.dirname(SWEEP))
        from sweep_lib import csv_file
        with open(self.file("whole.csv"), "rb") as file:
            data = file.read()
        ends = [i + 1 for i, byte in enumerate(data) if byte == 0x0A]
        for begin, end in zip(ends[2:4], ends[3:5]):
            for cut in range(begin, end):
                self.assertEqual(csv_file._whole_records("x", data[:cut]), begin)

    def test_damage_that_no_kill_leaves(self):
        """Only a record that is cut off at the end is dropped; else the rows behind the damage would be lost."""
        self.whole()
        with open(self.file("whole.csv"), "rb") as file:
            lines = file.read().split(b"\r\n")[:-1]

        def field(line, i, change):
            cells = line.split(b",")
            cells[i] = change(cells[i])
            return b",".join(cells)
        row = 4
        for at in (row, len(lines) - 1):  # in the middle, and the last row
            for i in (0, 6, -1):
                for name, change in (("before", lambda cell: b'"' + cell), ("inside", lambda cell: cell[:1] + b'"' + cell[1:]),
                                     ("behind", lambda cell: cell + b'"'), ("end", lambda cell: cell[:1] + b"\r" + cell[1:])):
                    if (i, name) == (-1, "end"):
                        continue  # that field is in quotes, and may hold line ends
                    damaged = [field(line, i, change) if n == at else line for n, line in enumerate(lines)]
                    for tail in (b"\r\n", b"\r\n" + lines[2][:30]):
                        data = b"\r\n".join(damaged) + tail
                        with open(self.file("damaged.csv"), "wb") as file:
                            file.write(data)
                        for words in (("--merge", "damaged.csv", "-o", "never.csv"),
                                      (*self.SWEEP, "damaged.csv", "-c", self.config, "-d", "cpu", "--no-measure", "--resume")):
                            done = self.sweep(*words)
                            self.assertEqual(done.returncode, 2, (at, i, name, tail, done.stderr))
                            self.assertRegex(done.stderr, rf"\Asweep.py: damaged.csv: row {at + 1} .*\n\Z")
                        with open(self.file("damaged.csv"), "rb") as file:
                            self.assertEqual(file.read(), data)
        self.assertFalse(os.path.exists(self.file("never.csv")))

    def test_rows_that_no_sweep_writes(self):
        whole = self.whole()
        for change, text in ((lambda rows: rows.insert(9, rows[2]), "row 11 is tiny/rope/fast/bf16/T2 (warm), as row 4 is"),
                             (lambda rows: rows[3].update(status="paased"), 'row 5: status is "paased"; there are passed, '),
                             (lambda rows: rows[3].update(status=""), 'row 5: status is ""; there are passed, '),
                             (lambda rows: rows[3].update(cache="wram"), 'row 5: cache is "wram"; there are cold, warm')):
            rows = [dict(row) for row in whole]
            change(rows)
            with open(self.file("odd.csv"), "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(whole[0]), lineterminator="\r\n")
                writer.writeheader()
                writer.writerows(rows)
            for words in (("--merge", "odd.csv", "-o", "never.csv"),
                          (*self.SWEEP, "odd.csv", "-c", self.config, "-d", "cpu", "--no-measure", "--resume")):
                done = self.sweep(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"sweep.py: odd.csv: {text}", done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertEqual(read(self.file("odd.csv")), rows)

    def test_names_that_are_regexes_and_two_cache_modes(self):
        """What is missing is asked for by --filter: exactly that, whatever the names hold."""
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({**TINY, "name": "a.b*(c)|[d]^$?+{2}\\d, \"e\"", "measure": {"cache": "both"}}, file)
        whole = self.whole()
        self.assertEqual([row["cache"] for row in whole], 16 * ["cold", "warm"])
        with open(self.file("whole.csv"), encoding="utf-8", newline="") as file:
            table = list(csv.reader(file))
        kept = [row for i, row in enumerate(table) if i not in (4, 5, 6, 20)]  # row i is case (i - 1) // 2
        with open(self.file("part.csv"), "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\r\n").writerows(kept)
        done = self.checked(*self.SWEEP, "part.csv", "-c", self.config, "--resume")
        self.assertIn("3 of 16 cases run", done.stderr)
        self.assertEqual(read(self.file("part.csv")), whole)

    def test_a_link_stays_one(self):
        os.mkdir(self.file("elsewhere"))
        os.symlink("elsewhere/out.csv", self.file("link.csv"))
        self.checked("tokens", "-a", "tokens=1", "-c", self.config, "-o", "link.csv")
        self.assertTrue(os.path.islink(self.file("link.csv")))
        self.assertEqual(len(read(self.file("elsewhere/out.csv"))), 2)

    def test_finished_rows_are_kept_as_they_are(self):
        self.checked(*self.SWEEP, "out.csv", "-c", self.config)
        with open(self.file("out.csv"), "rb") as file:
            before = file.read()
        binary = self.wrapper()
        done = self.checked(*self.SWEEP, "out.csv", "-c", self.config, "--resume", binary=binary)
        self.assertEqual(self.started(), [])
        self.assertIn("0 of 16 cases run", done.stderr)
        with open(self.file("out.csv"), "rb") as file:
            self.assertEqual(file.read(), before)

    def test_a_case_that_ends_rope_bench_costs_that_case_alone(self):
        binary = self.wrapper("os.kill(os.getpid(), signal.SIGKILL) if b'/fast/bf16/T3\"' in line else None")
        done = self.sweep(*self.SWEEP, "out.csv", "-c", self.config, "-d", "cpu", "--no-measure", binary=binary)
        self.assertEqual(done.returncode, 6)
        self.assertIn("tiny/rope/fast/bf16/T3: rope-bench ended without its row", done.stderr)
        self.assertEqual(len(self.started()), 2)
        whole = self.whole()
        self.assertEqual(read(self.file("out.csv")), [row for row in whole if not row["name"].endswith("fast/bf16/T3")])
        self.checked(*self.SWEEP, "out.csv", "-c", self.config, "--resume")
        self.assertEqual(read(self.file("out.csv")), whole)  # in the order of the sweep

    def test_a_first_case_that_ends_rope_bench(self):
        binary = self.wrapper("os.kill(os.getpid(), signal.SIGKILL) if b'/fast/bf16/T1\"' in line else None")
        done = self.sweep(*self.SWEEP, "out.csv", "-c", self.config, "-d", "cpu", "--no-measure", binary=binary)
        self.assertEqual(done.returncode, 6)
        self.assertEqual(len(read(self.file("out.csv"))), 15)

    def test_a_rope_bench_that_never_writes_a_row(self):
        binary = self.wrapper("sys.exit(6)")
        done = self.sweep(*self.SWEEP, "out.csv", "-c", self.config, "-d", "cpu", "--no-measure", binary=binary)
        self.assertEqual(done.returncode, 6)
        self.assertEqual(done.stderr.splitlines()[-1], "sweep.py: rope-bench ended 3 times without any row")
        self.assertEqual(read(self.file("out.csv")), [])

    def test_a_full_disk_leaves_whole_rows(self):
        # A limit on the size of files stands in for the disk.
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
        done = self.sweep(*self.SWEEP, "out.csv", "-c", self.config, "-d", "cpu", "--no-measure", preexec_fn=limit)
        self.assertEqual(done.returncode, 6)
        self.assertEqual(done.stderr.splitlines()[-1], "sweep.py: cannot write out.csv: File too large")
        rows = read(self.file("out.csv"))
        self.assertGreater(len(rows), 0)
        self.assertEqual(rows, self.whole()[:len(rows)])

    def test_only_one_sweep_writes_a_file(self):
        process = subprocess.Popen(
            self.words(*self.SWEEP, "out.csv", "-c", self.config, "-d", "cpu", "--no-measure", "-q",
                       binary=self.wrapper(delay=0.3)), cwd=self.folder)
        while not os.path.exists(self.file("out.csv")):
            time.sleep(0.01)
        second = self.sweep(*self.SWEEP, "out.csv", "-c", self.config, "-d", "cpu", "--no-measure", "--resume")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 130)
        self.assertEqual(second.returncode, 2)
        self.assertIn("another sweep is writing it", second.stderr)

    def interrupted(self, numbers, ignored=()):
        """Sends signals to a sweep that has a row, a second one while it tidies up. -> the process, ended, and its stderr"""
        def set_up():  # whatever runs the tests ignores
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
        os.mkdir(self.file("temporary"))
        with open(self.file("stderr"), "w", encoding="utf-8") as stderr:
            process = subprocess.Popen(
                self.words(*self.SWEEP, "out.csv", "-c", self.config, "-d", "cpu", "--no-measure", "-q",
                           binary=self.wrapper(delay=0.2)), cwd=self.folder, stderr=stderr,
                env={**os.environ, "TMPDIR": self.file("temporary")}, preexec_fn=set_up)
        self.addCleanup(process.kill)
        while not os.path.exists(self.file("out.csv")) or not read(self.file("out.csv")):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        for number in numbers:
            process.send_signal(number)
            time.sleep(0.02)
        process.wait(60)
        with open(self.file("stderr"), encoding="utf-8") as stderr:
            return process, stderr.read()

    def test_signals_that_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                process, stderr = self.interrupted([number] if number == signal.SIGINT else [number, number])
                self.assertEqual((process.returncode, stderr), (130, "sweep.py: interrupted; --resume goes on\n"))
                self.assertEqual(os.listdir(self.file("temporary")), [])
                self.assertLess(len(read(self.file("out.csv"))), 16)
            os.rmdir(self.file("temporary"))
            os.unlink(self.file("out.csv"))

    def test_a_hangup_that_is_ignored(self):
        """As under nohup."""
        process, stderr = self.interrupted([signal.SIGHUP], ignored=[signal.SIGHUP])
        self.assertEqual((process.returncode, stderr), (0, ""))
        self.assertEqual(len(read(self.file("out.csv"))), 16)


class WrongCalls(SweepTest):
    def expect(self, words, text, code=2):
        done = self.sweep(*words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_one_line_and_nothing_written(self):
        before = sorted(os.listdir(self.folder))
        flags = ("-c", self.config, "-o", "out.csv")
        self.expect(("tokns", *flags), 'no sweep "tokns"; there are tokens, gqa')
        self.expect(("tokns", *flags), "did you mean tokens?")
        self.expect(flags, "no sweep given")
        self.expect(("tokens", "-c", self.config), "no -o")
        self.expect(("tokens", "-c", "no-such-config", "-o", "out.csv"), "no-such-config")
        self.expect(("tokens", *flags, "--set", "no_such_key=1"), "no_such_key")
        self.expect(("tokens", *flags, "--shard", "2/2"), "--shard 2/2: not I/N")
        self.expect(("tokens", *flags, "-c", self.config), "is given twice")
        self.expect(("models", *flags), "takes no -c")
        self.expect(("tokens", *flags, "--ressume"), "sweep.py: unknown flag --ressume; did you mean --resume?\n")
        self.expect(("tokens", *flags, "--shrad=0/2"), "sweep.py: unknown flag --shrad; did you mean --shard?\n")
        self.expect(("tokens", *flags, "--zzz"), "sweep.py: unknown flag --zzz; --help lists them\n")
        self.expect(("tokens", *flags, "gqa"), "sweep.py: \"gqa\" is out of place: names of sweeps stand together")
        self.expect(("tokens", "-c", self.config, "-o", "."), "it is a folder")
        self.expect(("tokens", "-c", self.config, "-o", "none/out.csv"), "cannot write none/out.csv: No such file")
        for output in ((), ("-o", "out.csv")):
            for flag in (("--resume",), ("-n",), ("-c", "x"), ("--hf", "x"), ("-d", "cpu"), ("-a", "x=1"), ("--set", "x=1"),
                         ("--shard", "0/2"), ("--no-check",), ("--no-measure",), ("--require-gpu",)):
                self.expect(("--merge", "a.csv", *flag, *output), f"it goes with -o alone, not with {flag[0]}\n")
        self.expect(("tokens", "--merge", "a.csv", "-o", "out.csv"), "not with a sweep")
        self.expect(("--merge", "a.csv"), "no -o")
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_a_config_under_two_names(self):
        os.mkdir(self.file("sub"))
        os.symlink("tiny.json", self.file("link.json"))
        shutil.copy(self.config, self.file("sub/tiny.json"))
        llama = os.path.join(ROOT, "tests", "data", "hf", "llama-3.1-8b.json")
        os.mkdir(self.file("model"))
        shutil.copy(llama, self.file("model/config.json"))
        listed = subprocess.run([BINARY, "list", "configs", "-o", "json"], capture_output=True, check=True)
        shipped = json.loads(listed.stdout)["configs"][0]
        for first, second in (("-c tiny", "-c tiny.json"), ("-c tiny.json", "-c ./tiny.json"), ("-c tiny", "-c sub/../tiny.json"),
                              ("-c tiny.json", "-c link"), ("-c " + shipped["name"], "-c " + shipped["file"]),
                              ("--hf model", "--hf model/config.json"), ("--hf model/", "--hf model")):
            self.expect(("tokens", *first.split(), *second.split(), "-o", "out.csv"),
                        f"sweep.py: {second} is given twice, as {first}\n")
        done = self.sweep("tokens", "-a", "tokens=1", "-c", "tiny", "-c", "sub/tiny.json", "--hf", "model", "-n")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 6), done.stderr)

    def test_the_binary_of_the_checkout_is_built_first(self):
        os.mkdir(self.file("scripts"))
        shutil.copy(SWEEP, self.file("scripts"))
        shutil.copytree(os.path.join(ROOT, "scripts", "sweep_lib"), self.file("scripts/sweep_lib"))
        launcher = self.file("scripts/rope-bench")
        for script, code, text in ((f'echo building >&2; exec {BINARY} "$@"', 0, "building\n"),
                                   ("echo it broke >&2; exit 1", 6, "it broke\nsweep.py: rope-bench could not be built"),
                                   ("echo it broke >&2; exit 6", 6, "it broke\nsweep.py: rope-bench could not be built")):
            with open(launcher, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + script + "\n")
            os.chmod(launcher, 0o755)
            done = subprocess.run([sys.executable, self.file("scripts/sweep.py"), "pairing", "-c", self.config, "-n"],
                                  capture_output=True, text=True, cwd=self.folder, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertTrue(done.stderr.startswith(text), done.stderr)
            self.assertEqual(len(done.stdout.splitlines()), 0 if code else 6)

    def test_a_missing_binary(self):
        done = self.sweep("tokens", "-o", "out.csv", binary="/no/such/rope-bench")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot start /no/such/rope-bench: No such file or directory", done.stderr)

    def test_a_binary_that_is_another_program(self):
        for script, code, text in (("echo garbage", 2, "is no rope-bench: its -c -o json printed 'garbage"),
                                   ("echo '{}'", 2, "is no rope-bench, or another version: no "),
                                   ("exit 1", 6, "other ended with 1 and without an answer\n"),
                                   ("echo no; echo no >&2; exit 3", 6, "ended with 3 and without an answer: no\n"),
                                   ("kill -SEGV $$", 6, "ended by SIGSEGV")):
            with open(self.file("other"), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + script + "\n")
            os.chmod(self.file("other"), 0o755)
            done = self.sweep("tokens", "-c", self.config, "-o", "out.csv", binary=self.file("other"))
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_a_file_that_is_there(self):
        flags = ("tokens", "-c", self.config, "-a", "tokens=1", "-o", "out.csv")
        self.checked(*flags)
        with open(self.file("out.csv"), "rb") as file:
            before = file.read().replace(b"passed", b"error")  # which --resume would drop
        with open(self.file("out.csv"), "wb") as file:
            file.write(before)
        self.expect((*flags, "-d", "cpu"), "out.csv is there already; --resume")
        self.expect((*flags, "-d", "cpu", "--no-measure", "--resume", "--set", "theta=5"), "has rows of another sweep")
        with open(self.file("out.csv"), "rb") as file:
            self.assertEqual(file.read(), before)
        with open(self.file("other.csv"), "w", encoding="utf-8") as file:
            file.write("a,b\r\n1,2\r\n")
        self.expect((*flags[:-1], "other.csv", "-d", "cpu", "--resume"), "not written by sweep.py: no column name")

    def test_no_gpu(self):
        done = self.sweep("tokens", "-c", self.config, "-a", "tokens=1", "-d", "cuda:99", "-o", "out.csv")
        self.assertEqual(done.returncode, 77, done.stderr)


if __name__ == "__main__":
    unittest.main()
