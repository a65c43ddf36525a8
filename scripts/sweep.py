#!/usr/bin/env python3
"""Named sweeps of rope-bench over any configs, to one CSV with a row per case and cache mode.

  sweep.py tokens decode -c llama3-8b -o sweep.csv        measure
  sweep.py tokens decode -c llama3-8b -o sweep.csv --resume     go on after an interruption
  sweep.py models -o part0.csv --shard 0/2                one half of a sweep; the other is 1/2
  sweep.py --merge part0.csv part1.csv -o models.csv      the rows of the whole sweep, in its order
  sweep.py --list                                         the named sweeps

The columns are those of `rope-bench -o csv`, then sweep, case_index (place in the whole sweep), sweep_flags (what
rope-bench was started with) and num_cases (of the whole sweep). A row is on disk as soon as it is measured. docs/sweeps.md has more.

Exit codes: as rope-bench's: 0 good; 1 a result was wrong; 2 usage or config error; 5 no row ran; 6 rope-bench failed, or
the CSV could not be written; 77 no usable GPU; 130 interrupted.
"""
import argparse
import difflib
import os
import signal
import sys
import time

sys.dont_write_bytecode = True  # the folder may be somebody else's
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from sweep_lib import csv_file, plan, runner  # noqa: E402
from sweep_lib.errors import SweepError  # noqa: E402

INTERRUPTS = (signal.SIGTERM, signal.SIGHUP)


def parse(words):
    parser = argparse.ArgumentParser(prog="sweep.py", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweeps", nargs="*", metavar="SWEEP", help="named sweeps: " + ", ".join(plan.SWEEPS))
    parser.add_argument("-c", "--config", action="append", default=[], metavar="FILE|NAME",
                        help="config of rope-bench; repeatable (llama3-8b)")
    parser.add_argument("--hf", action="append", default=[], metavar="FILE|FOLDER",
                        help="a model's own config.json; repeatable")
    parser.add_argument("-o", "--output", metavar="CSV", help="the file to write")
    parser.add_argument("--resume", action="store_true", help="keep the rows that CSV has, measure the others")
    parser.add_argument("--shard", metavar="I/N", help="only part I of N of the cases, from 0")
    parser.add_argument("--merge", nargs="+", metavar="CSV", help="put the rows of these files together in -o")
    parser.add_argument("-d", "--device", metavar="DEVICE", help="as for rope-bench")
    parser.add_argument("-a", "--axis", action="append", default=[], metavar="KEY=VALUES", help="another axis")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change one key")
    parser.add_argument("--no-check", action="store_true", help="as for rope-bench")
    parser.add_argument("--no-measure", action="store_true", help="as for rope-bench")
    parser.add_argument("--require-gpu", action="store_true", help="as for rope-bench")
    parser.add_argument("--binary", metavar="FILE", help="rope-bench itself (that of this checkout, built if it is not)")
    parser.add_argument("-n", "--dry-run", action="store_true", help="list the cases and stop")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    parser.add_argument("--list", action="store_true", help="list the named sweeps and stop")
    options, unknown = parser.parse_known_args(words)
    if unknown:
        flags = [flag for action in parser._actions for flag in action.option_strings]
        refuse_unknown(unknown[0].partition("=")[0], flags)
    return options


def refuse_unknown(word, flags):
    if not word.startswith("-"):
        raise SweepError(f"\"{word}\" is out of place: names of sweeps stand together, before the flags")
    near = difflib.get_close_matches(word, flags, 1)
    raise SweepError(f"unknown flag {word}" + (f"; did you mean {near[0]}?" if near else "; --help lists them"))


def refuse_contradictions(options):
    if options.merge:
        given = [flag for flag, value in (
            ("a sweep", options.sweeps), ("-c", options.config), ("--hf", options.hf), ("--resume", options.resume),
            ("--shard", options.shard), ("-d", options.device), ("-a", options.axis), ("--set", options.set),
            ("--no-check", options.no_check), ("--no-measure", options.no_measure),
            ("--require-gpu", options.require_gpu), ("-n", options.dry_run)) if value]
        if given:
            raise SweepError(f"--merge reads files that are there; it goes with -o alone, not with {given[0]}")
    elif not options.sweeps:
        raise SweepError("no sweep given; there are " + ", ".join(plan.SWEEPS))
    for name in options.sweeps:
        plan.sweep_named(name)  # refused before anything is built
    if options.dry_run:
        return
    if not options.output:
        raise SweepError("no -o: which CSV is to be written?")


def list_sweeps():
    width = max(len(name) for name in plan.SWEEPS)
    for name, sweep in plan.SWEEPS.items():
        print(f"{name:{width}}  {sweep.summary}")


def dry_run(jobs):
    for job in jobs:
        for case in job.cases:
            print(case.name)
    print(f"sweep.py: {sum(len(job.cases) for job in jobs)} cases; nothing was run", file=sys.stderr)


def main(words):
    options = parse(words)
    options.start = time.monotonic()
    if options.list:
        list_sweeps()
        return 0
    refuse_contradictions(options)
    if options.merge:
        csv_file.merge(options.merge, options.output)
        return 0
    options.binary = options.binary or runner.build()
    with plan.planned(options) as jobs:
        if options.dry_run:
            dry_run(jobs)
            return 0
        return runner.run(options, jobs)


def interrupt(_number, _frame):
    for number in INTERRUPTS:
        signal.signal(number, signal.SIG_IGN)  # one is enough: a second would end the tidying up
    raise KeyboardInterrupt


if __name__ == "__main__":
    for number in INTERRUPTS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, interrupt)
    try:
        sys.exit(main(sys.argv[1:]))
    except SweepError as error:
        print(f"sweep.py: {error}", file=sys.stderr)
        sys.exit(error.code)
    except KeyboardInterrupt:
        print("sweep.py: interrupted; --resume goes on", file=sys.stderr)
        sys.exit(130)
