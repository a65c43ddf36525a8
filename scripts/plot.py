#!/usr/bin/env python3
"""Pictures of what rope-bench measured, from CSV files of `rope-bench -o csv` or sweep.py.

  plot.py sweep.csv -o plots                     every kind of picture that the rows are enough for
  plot.py sweep.csv --kind bandwidth,decode --where dtype=bf16 -o plots

Kinds: bandwidth (GB/s against tokens, with the measured peak and where a launch's bytes fill L2), ratio (limit_ratio
against tokens), decode (time of few tokens, with the floor), fused (fused against unfused), error (largest errors against
position). A picture has one line per variant; rows that differ in anything else go to pictures of their own.

Exit codes: 0 written; 2 wrong call, unreadable CSV, rows that are not enough for a kind, or no matplotlib; 6 not written.
"""
import argparse
import csv
import itertools
import os
import re
import sys

KINDS = ("bandwidth", "ratio", "decode", "fused", "error")
FORMATS = ("png", "svg")
MOST_DECODE_TOKENS = 512

# What may tell pictures apart, besides the variant.
CONDITIONS = ("device_model", "config", "op", "dtype", "cache", "pairing", "scaling", "num_heads", "num_kv_heads",
              "head_dim", "rotary_dim", "theta", "batch", "in_place", "positions", "position_bits", "table_angle",
              "table_dtype", "data")
NEEDED = ("name", "variant", "status", "num_tokens", "bytes_total", "time_median_us")


class PlotError(Exception):
    """One line for the user, and the exit code that goes with it."""

    def __init__(self, text, code=2):
        super().__init__(text)
        self.code = code


def note(text):
    print(f"plot.py: {text}", file=sys.stderr)


# Rows


def number(row, name):
    """A cell as a finite number; None where it is absent or something else."""
    try:
        value = float(row.get(name) or "nan")
    except ValueError:
        raise PlotError(f"{row['name']}: {name} is \"{row[name]}\", not a number") from None
    return value if abs(value) < float("inf") else None


def entry_of(row):
    """Entry of a suite: the part of a case's name between config and op."""
    config, op = re.sub(r"[ \t\r\n]", "-", row.get("config", "")).replace("/", "_"), row.get("op", "")
    match = re.match(re.escape(config) + "/(.*?)/?" + re.escape(op) + "/", row["name"])
    return match.group(1) if match else ""


def refuse_other_formats(path, first):
    """What is no CSV with commas, by its first line: its fields are not as many as anything says."""
    if first.startswith(("{", "[")):
        raise PlotError(f"{path}: JSON, not CSV; `rope-bench -o csv` and sweep.py write CSV")
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if first.count(separator) > first.count(","):
            raise PlotError(f"{path}: separated by {name}; save it with commas")


def read_rows(paths, where):
    rows = []
    for path in paths:
        try:
            with open(path, encoding="utf-8-sig", newline="") as file:
                first = file.readline()
                refuse_other_formats(path, first)
                reader = csv.DictReader(itertools.chain([first], file), strict=True)
                names = reader.fieldnames or []
                its_rows = []
                for row in reader:
                    if None in row or None in row.values():
                        raise PlotError(f"{path}:{reader.line_num}: not as many fields as the header has: cut off?")
                    its_rows.append(row)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise PlotError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
        missing = [name for name in NEEDED if name not in names]
        if missing:
            raise PlotError(f"{path}: no column {missing[0]}; expected a CSV of `rope-bench -o csv` or of sweep.py")
        unknown = [key for key, _ in where if key not in names]
        if unknown:
            raise PlotError(f"--where {unknown[0]}: {path} has no such column")
        rows += its_rows
    for row in rows:
        row["entry"] = entry_of(row)
    rows = [row for row in rows if row["status"] in ("passed", "unchecked")
            and all(row[key] == value for key, value in where)]
    if not rows:
        raise PlotError("no row is left: none passed" + (", or --where leaves none" if where else ""))
    return rows


def peak_of(rows):
    """The measured peak, GB/s. CSVs that lack the column have it as a percentage."""
    for row in rows:
        peak = number(row, "measured_peak_gb_s")
        if peak:
            return peak
        percent, bandwidth = number(row, "percent_of_measured_peak"), number(row, "bandwidth_gb_s")
        if percent and bandwidth:
            return 100 * bandwidth / percent
    return None


def tokens_that_fill(size, rows):
    """Where bytes_total reaches `size`, between the two rows around it; None if none is smaller or none is larger.
    Separate launches move more bytes than a fused one: the fewest count."""
    fewest = {}
    for row in rows:
        tokens, size_there = number(row, "num_tokens"), number(row, "bytes_total")
        fewest[tokens] = min(size_there, fewest.get(tokens, size_there))
    points = sorted((size_there, tokens) for tokens, size_there in fewest.items())
    for (low_bytes, low), (high_bytes, high) in zip(points, points[1:]):
        if low_bytes < size <= high_bytes:
            return low + (high - low) * (size - low_bytes) / (high_bytes - low_bytes)
    return None


class Group:
    """Rows that differ in `x` and in variant alone."""

    def __init__(self, conditions, varying, rows):
        self.conditions, self.rows = conditions, rows
        self.title = ", ".join(f"{conditions[key]}" if key in ("config", "entry", "op", "dtype", "device_model", "cache")
                               else f"{key} {conditions[key]}" for key in conditions
                               if key in varying or key in ("device_model", "config", "op", "dtype", "cache")
                               if conditions[key])
        self.suffix = "".join("-" + re.sub(r"[^A-Za-z0-9.=_]+", "_", conditions[key] or "none")
                              for key in conditions if key in varying)

    def series(self, x, y, most_x=None):
        """variant -> sorted points, those with both numbers."""
        lines = {}
        for row in self.rows:
            at, value = number(row, x), number(row, y)
            if at is None or value is None or at <= 0 or (most_x and at > most_x):
                continue
            lines.setdefault(row["variant"], []).append((at, value))
        return {variant: sorted(points) for variant, points in lines.items()}


def groups_of(rows, by=()):
    keys = [key for key in (*CONDITIONS[:2], "entry", *CONDITIONS[2:], *by) if key in rows[0]]
    varying = {key for key in keys if len({row.get(key) for row in rows}) > 1}
    found = {}
    for row in rows:
        found.setdefault(tuple(row.get(key) or "" for key in keys), []).append(row)
    return [Group(dict(zip(keys, values)), varying, its_rows) for values, its_rows in found.items()]


# Pictures. Colours that print as distinct greys (Okabe and Ito's), and in black and white lines still differ in marker
# and dashes.

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++")


def style(i):
    i %= len(COLOURS)
    return {"color": COLOURS[i], "marker": MARKERS[i], "linestyle": DASHES[i], "markersize": 5}


def load_pyplot():
    try:
        import matplotlib
    except ImportError:
        raise PlotError("matplotlib is not installed; on Debian and Ubuntu: apt-get install python3-matplotlib "
                        "(and start this with /usr/bin/python3)") from None
    matplotlib.use("Agg")
    # Text stays text in SVG, and the same rows give the same file.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "rope-bench", "font.size": 10,
                                "axes.grid": True, "grid.alpha": 0.3, "axes.axisbelow": True})
    from matplotlib import pyplot
    return pyplot


def token_text(tokens):
    return f"{tokens / 1024:g}k" if tokens >= 1024 and tokens % 1024 == 0 else f"{tokens:g}"


def log_axis(axis, points, spell, label, most_ticks=12):
    """A logarithmic x axis with ticks at the values that were measured, as many as fit."""
    axis.set_xscale("log", base=2)
    step = -(-len(points) // most_ticks)
    shown = points[::-1][::step][::-1]  # the largest is among them
    axis.set_xticks(shown, [spell(point) for point in shown])
    axis.minorticks_off()
    axis.set_xlabel(label)


def legend(axis):
    """Below the axes: it covers no data, whatever the data is."""
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False)


def new_figure(pyplot, title):
    figure, axis = pyplot.subplots(figsize=(7, 4.6), layout="constrained")
    words, lines = title.split(", "), [""]
    for word in words:  # no title is wider than the picture
        if lines[-1] and len(lines[-1]) + len(word) > 72:
            lines.append("")
        lines[-1] += (", " if lines[-1] else "") + word
    axis.set_title("\n".join(lines), fontsize=10)
    return figure, axis


def lines_figure(pyplot, group, x, y, most_x=None):
    """Figure and axis with a line per variant, or None where no variant has two points."""
    series = {variant: points for variant, points in group.series(x, y, most_x).items()
              if len({at for at, _ in points}) > 1}
    if not series:
        return None
    figure, axis = new_figure(pyplot, group.title)
    for i, (variant, points) in enumerate(series.items()):
        axis.plot(*zip(*points), label=variant, **style(i))
    ticks = sorted({at for points in series.values() for at, _ in points})
    log_axis(axis, ticks, token_text, "tokens")
    return figure, axis


def draw_bandwidth(pyplot, group):
    made = lines_figure(pyplot, group, "num_tokens", "bandwidth_gb_s")
    if not made:
        return None
    figure, axis = made
    peak = peak_of(group.rows)
    if peak:
        axis.axhline(peak, color="black", linewidth=1, linestyle=(0, (8, 3)), label=f"measured peak, {peak:.4g} GB/s")
    l2_bytes = number(group.rows[0], "l2_bytes")
    at = l2_bytes and tokens_that_fill(l2_bytes, group.rows)
    if at:
        axis.axvline(at, color="black", linewidth=1, linestyle=(0, (1, 2)),
                     label=f"bytes of a launch = L2, {l2_bytes / 1e6:.4g} MB")
    axis.set_ylim(bottom=0)
    axis.set_ylabel("bandwidth, GB/s (1 GB = 10$^9$ bytes)")
    return figure, axis


def draw_ratio(pyplot, group):
    made = lines_figure(pyplot, group, "num_tokens", "limit_ratio")
    if not made:
        return None
    figure, axis = made
    axis.axhline(1, color="black", linewidth=1, linestyle=(0, (8, 3)), label="the limit: streaming, no arithmetic")
    axis.set_ylim(bottom=0)
    axis.set_ylabel("limit_ratio (limit time / time)")
    return figure, axis


def draw_decode(pyplot, group):
    made = lines_figure(pyplot, group, "num_tokens", "time_median_us", MOST_DECODE_TOKENS)
    if not made:
        return None
    figure, axis = made
    floor = number(group.rows[0], "floor_us")
    if floor:
        axis.axhline(floor, color="black", linewidth=1, linestyle=(0, (8, 3)),
                     label=f"floor: an empty launch, {floor:.3g} µs")
    axis.set_ylim(bottom=0)
    axis.set_ylabel("time per launch, µs")
    return figure, axis


def ratio_text(unfused_us, fused, tokens):
    return f"{unfused_us / fused[tokens]:.2f}×" if tokens in fused else ""


def draw_fused(pyplot, group):
    series = {variant: dict(points) for variant, points in group.series("num_tokens", "time_median_us").items()}
    unfused = series.pop("unfused", None)
    if not unfused or not series:
        return None
    tokens = sorted(at for at in unfused if any(at in points for points in series.values()))
    if not tokens:
        return None
    figure, axis = new_figure(pyplot, group.title)
    fused = next(iter(series.values()))
    bars = {**series, "unfused": unfused}
    width = 0.8 / len(bars)
    for i, (variant, points) in enumerate(bars.items()):
        at = [place for place, count in enumerate(tokens) if count in points]
        heights = [points[tokens[place]] for place in at]
        drawn = axis.bar([place + (i - (len(bars) - 1) / 2) * width for place in at], heights, width, label=variant,
                         color=COLOURS[i % len(COLOURS)], hatch=HATCHES[i % len(HATCHES)], edgecolor="black",
                         linewidth=0.6)
        if len(bars) == 2 and variant == "unfused":
            # Above the taller bar, where nothing else is.
            axis.bar_label(drawn, [ratio_text(points[tokens[place]], fused, tokens[place]) for place in at], padding=3,
                           fontsize=8, rotation=90 if len(tokens) > 10 else 0)
    axis.set_yscale("log")
    axis.margins(y=0.18)  # room for the figures, also where they stand upright
    axis.set_xticks(range(len(tokens)), [token_text(count) for count in tokens])
    axis.set_xlabel("tokens" + (" (figures: unfused time / fused time)" if len(bars) == 2 else ""))
    axis.set_ylabel("time per launch, µs")
    axis.grid(axis="x", visible=False)
    return figure, axis


def draw_error(pyplot, group):
    columns = (("total_max_abs", "end to end, against exact angles"), ("table_max_abs", "table, against exact angles"),
               ("kernel_max_abs", "kernel, against the same table"))
    drawn = []
    for column, label in columns:
        largest = {}  # several rows may have one position: the largest error of them
        for row in group.rows:
            at, value = number(row, "largest_position"), number(row, column)
            if at is not None and value is not None and at > 0 and value > 0:
                largest[at] = max(value, largest.get(at, 0))
        if len(largest) > 1:
            drawn.append((label, sorted(largest.items())))
    if not drawn:
        return None
    figure, axis = new_figure(pyplot, group.title)
    for i, (label, points) in enumerate(drawn):
        # Where one error is all of another, their lines coincide: hollow markers, larger below smaller, show both.
        axis.plot(*zip(*points), label=label, **{**style(i), "fillstyle": "none", "markersize": 11 - 3 * i})
    ticks = sorted({at for _, points in drawn for at, _ in points})
    log_axis(axis, ticks, lambda at: f"{at:g}" if at < 1e6 else f"{at:.3g}", "largest position", 8)
    axis.set_yscale("log")
    axis.set_ylabel("largest absolute error")
    return figure, axis


DRAW = {"bandwidth": draw_bandwidth, "ratio": draw_ratio, "decode": draw_decode, "fused": draw_fused,
        "error": draw_error}
WANTS = {"bandwidth": "two values of num_tokens with a bandwidth_gb_s",
         "ratio": "two values of num_tokens with a limit_ratio",
         "decode": f"two values of num_tokens up to {MOST_DECODE_TOKENS} with a time",
         "fused": "variant unfused beside another",
         "error": "two values of largest_position with errors"}


def save(figure, path, fmt):
    folder, name = os.path.split(path)
    unfinished = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        figure.savefig(unfinished, format=fmt, dpi=150, metadata={"Date": None} if fmt == "svg" else None)
        os.replace(unfinished, path)
    except OSError as error:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
        raise PlotError(f"cannot write {path}: {error.strerror}", 6) from None


def plot(pyplot, kind, rows, folder, formats):
    """-> files written."""
    written = []
    for group in groups_of(rows, by=("variant",) if kind == "error" else ()):
        made = DRAW[kind](pyplot, group)
        if not made:
            continue
        figure, axis = made
        legend(axis)
        for fmt in formats:
            path = os.path.join(folder, f"{kind}{group.suffix}.{fmt}")
            save(figure, path, fmt)
            written.append(path)
        pyplot.close(figure)
    return written


def chosen(text, allowed, flag):
    words = text.split(",")
    for word in words:
        if word not in allowed:
            raise PlotError(f"{flag} {word}: allowed are {', '.join(allowed)}")
    return words


def main(words):
    parser = argparse.ArgumentParser(prog="plot.py", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", nargs="+", metavar="CSV")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="made if it is not there")
    parser.add_argument("--kind", metavar="KIND,...", help="pictures to make: " + ", ".join(KINDS) + " (all that can be)")
    parser.add_argument("--format", default="png,svg", metavar="FORMAT,...", help="png, svg (both)")
    parser.add_argument("--where", action="append", default=[], metavar="COLUMN=VALUE", help="only such rows; repeatable")
    options = parser.parse_args(words)
    kinds = chosen(options.kind, KINDS, "--kind") if options.kind else KINDS
    formats = chosen(options.format, FORMATS, "--format")
    where = [condition.partition("=")[::2] for condition in options.where]
    for condition in options.where:
        if "=" not in condition:
            raise PlotError(f"--where {condition}: not COLUMN=VALUE, for example --where dtype=bf16")
    rows = read_rows(options.csv, where)
    pyplot = load_pyplot()
    try:
        os.makedirs(options.output, exist_ok=True)
    except OSError as error:
        raise PlotError(f"cannot make the folder {options.output}: {error.strerror}") from None
    written = []
    for kind in kinds:
        made = plot(pyplot, kind, rows, options.output, formats)
        if not made and options.kind:
            raise PlotError(f"--kind {kind}: the rows are not enough: it takes {WANTS[kind]}, all else being equal")
        if not made:
            note(f"no {kind}: it takes {WANTS[kind]}, all else being equal")
        written += made
    if not written:
        raise PlotError("nothing to draw")
    print("\n".join(written))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except PlotError as error:
        note(error)
        sys.exit(error.code)
