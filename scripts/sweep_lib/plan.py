"""Which cases a sweep has: named sweeps, and the jobs they become."""
import contextlib
import difflib
import json
import os
import shlex
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field

from .errors import SweepError

# Exit codes of a rope-bench that cannot do what it is asked. All others that are not 0 say something of results.
REFUSALS = (2, 6, 77, 130)
DEFAULT_CONFIG = "llama3-8b"
# Suites of unlike cases among the shipped configs; all others are models.
SUITES = ("boundary", "fused", "smoke")


@dataclass(frozen=True)
class Sweep:
    summary: str
    axes: tuple  # of rope-bench's --axis
    shipped_models: bool = False


def _scalings():
    kinds = [{"type": "none"}, {"type": "linear", "factor": 4}, {"type": "ntk", "factor": 4},
             {"type": "dynamic_ntk", "factor": 4}, {"type": "yarn", "factor": 4,
                                                    "original_max_position_embeddings": 4096},
             {"type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
              "original_max_position_embeddings": 8192}]
    return "rope.scaling=" + json.dumps(kinds, separators=(",", ":"))


# Every value is an axis, also where it is one alone: axes are part of a case's name, so that cases of unlike sweeps never
# share one.
SWEEPS = {
    "tokens": Sweep("1 to 65536 tokens, variants fast and naive", ("tokens=1-65536*2", "variant=fast,naive")),
    "gqa": Sweep("query heads per key head, from 1 on", ("tokens=4096", "gqa_ratio=1,2,4,8,16,32")),
    "head_dim": Sweep("64 to 256 dims of a head, all rotated",
                      ("tokens=4096", "head_dim=64,80,96,128,160,192,256")),
    "pairing": Sweep("both pairings in every dtype", ("tokens=4096", "pairing=neox,gptj", "dtype=f32,f16,bf16")),
    "scaling": Sweep("scaling methods at near and far positions",
                     ("tokens=1024", "position_offset=0,4096,32768,130048", _scalings())),
    "fused": Sweep("split ops, fused beside unfused",
                   ("tokens=1,64,1024,4096,16384", "op=split_rope,norm_split_rope", "variant=fast,unfused",
                    "layout.in_place=false")),
    "decode": Sweep("one new token for each of 1 to 512 sequences, variants fast and naive",
                    ("tokens=1-512*2", "positions=decode", "variant=fast,naive")),
    "models": Sweep("every shipped model at 1 to 16384 tokens", ("tokens=1,64,1024,4096,16384",), shipped_models=True),
}


@dataclass(frozen=True)
class Case:
    name: str
    caches: tuple  # a row for each
    index: int  # place in the whole sweep


@dataclass
class Job:
    """Cases that one process of rope-bench can run."""
    sweep: str
    flags: list  # that, with --shard, select the cases
    label: str  # the same as a user would write them
    cases: list = field(default_factory=list)
    num_cases: int = 0  # of the whole sweep: all jobs, all shards


def sweep_named(name):
    if name in SWEEPS:
        return SWEEPS[name]
    near = difflib.get_close_matches(name, SWEEPS, 1)
    raise SweepError(f"no sweep \"{name}\"; there are {', '.join(SWEEPS)}" + (f"; did you mean {near[0]}?" if near else ""))


def ask(binary, *words):
    """The JSON that rope-bench prints; its own message and exit code where it refuses."""
    try:
        done = subprocess.run([binary, *words, "-o", "json"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise SweepError(f"cannot start {binary}: {error.strerror}; --binary names another rope-bench") from None
    if done.returncode == 5:
        return None
    if done.returncode < 0:
        raise SweepError(f"{binary} {words[0]}: ended by {signal.Signals(-done.returncode).name}", 6)
    if done.returncode in REFUSALS:
        raise SweepError(done.stderr.strip().removeprefix("rope-bench: ") or f"{binary} ended with {done.returncode}", done.returncode)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[:1]
        raise SweepError(": ".join([f"{binary} ended with {done.returncode} and without an answer", *said]), 6)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise SweepError(f"{binary} is no rope-bench: its {words[0]} -o json printed {done.stdout[:40]!r}")
    return answer


def member(binary, answer, name):
    """A member that every rope-bench prints."""
    if name not in answer:
        raise SweepError(f"{binary} is no rope-bench, or another version: no {name} in what it printed")
    return answer[name]


def _write_models(binary, folder):
    """All shipped models as one config: one process, and so one start, for all of them."""
    entries = []
    for row in member(binary, ask(binary, "list", "configs") or {}, "configs"):
        if row["name"] in SUITES:
            continue
        with open(row["file"], encoding="utf-8") as file:
            entry = json.load(file)
        entries.append({key: value for key, value in entry.items() if key not in ("$schema", "description")})
    path = os.path.join(folder, "models.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": "models", "cases": entries}, file)
    return path


def _sources(name, sweep, options, folder):
    """(flags for rope-bench, what a user would write for them) of every config."""
    if sweep.shipped_models:
        if options.config or options.hf:
            raise SweepError(f"{name} is a sweep over the shipped models: it takes no -c and no --hf; "
                             "for others use tokens")
        return [(["-c", _write_models(options.binary, folder)], ["-c", "models.json"])]
    named = [["-c", config] for config in options.config] + [["--hf", path] for path in options.hf]
    return [(flags, flags) for flags in named or [["-c", DEFAULT_CONFIG]]]


def _file_of(flag, value, shipped):
    """The file that rope-bench reads for -c or --hf, whatever it is called there."""
    name = value.removesuffix(".json")
    candidates = [os.path.join(value, "config.json")] if flag == "--hf" else []
    candidates += [value] + ([name + ".json", shipped.get(name, "")] if flag == "-c" and "/" not in value else [])
    return os.path.realpath(next((path for path in candidates if os.path.isfile(path)), value))


def _refuse_twice(options):
    """A config under two names would be measured twice."""
    sources = [("-c", config) for config in options.config] + [("--hf", path) for path in options.hf]
    if len(sources) < 2:
        return
    listed = member(options.binary, ask(options.binary, "list", "configs") or {}, "configs")
    shipped = {row["name"]: row["file"] for row in listed}
    seen = {}
    for source in sources:
        file = (source[0], _file_of(*source, shipped))
        if file in seen:
            other = "" if seen[file] == source else f", as {shlex.join(seen[file])}"
            raise SweepError(f"{shlex.join(source)} is given twice{other}")
        seen[file] = source


def _changes(sweep, options):
    """Axes of the sweep, with the user's in place of those of the same key, then the others of the user."""
    def key(axis):
        return axis.partition("=")[0]
    theirs = {key(axis): axis for axis in options.axis}
    ours = [key(axis) for axis in sweep.axes]
    axes = [theirs.get(key(axis), axis) for axis in sweep.axes] + [a for a in options.axis if key(a) not in ours]
    return ([word for axis in axes for word in ("-a", axis)] +
            [word for change in options.set for word in ("--set", change)])


def _listed(binary, flags):
    answer = ask(binary, *flags, "--dry-run")
    return member(binary, answer, "cases") if answer is not None else []


@contextlib.contextmanager
def planned(options):
    """The jobs of all sweeps that were asked for, in order, without cases of other shards."""
    sweeps = {name: sweep_named(name) for name in options.sweeps}  # each once
    _refuse_twice(options)
    how = [flag for flag, on in (("--no-check", options.no_check), ("--no-measure", options.no_measure)) if on]
    jobs, count = [], 0
    with tempfile.TemporaryDirectory(prefix="rope-bench-sweep-") as folder:
        for name, sweep in sweeps.items():
            changes = _changes(sweep, options)
            for source, as_written in _sources(name, sweep, options, folder):
                flags = source + changes
                label = shlex.join(as_written + changes + how)
                listed = _listed(options.binary, flags)
                job = Job(name, flags, label)
                mine = None
                if options.shard:
                    mine = {case["name"] for case in _listed(options.binary, [*flags, "--shard", options.shard])}
                for i, case in enumerate(listed):
                    if mine is None or case["name"] in mine:
                        job.cases.append(Case(case["name"], tuple(case["cache"]), count + i))
                count += len(listed)
                jobs.append(job)
        for job in jobs:
            job.num_cases = count
        yield jobs
