"""The CSV that a sweep writes: whole rows only, whatever ends the process."""
import csv
import fcntl
import io
import os
import re
import shlex
import stat
import sys
import tempfile

from .errors import SweepError

OWN_COLUMNS = ["sweep", "case_index", "sweep_flags", "num_cases"]
_CACHES = {"cold": 0, "warm": 1}
STATUSES = ("passed", "failed", "unchecked", "unsupported", "skipped", "out_of_memory", "error")  # that a run writes


def key_of(row):
    """What tells rows of a sweep apart."""
    return row["sweep"], row["sweep_flags"], row["name"], row["cache"]


def order_of(row):
    return int(row["case_index"]), _CACHES.get(row["cache"], len(_CACHES))


def _cannot_write(path, error):
    return SweepError(f"cannot write {path}: {error.strerror}", 6)


def is_special(path):
    """Pipes and devices exist to be written to, not to be replaced."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _refuse_what_is_there(path, advice):
    if os.path.isdir(path):
        raise SweepError(f"cannot write {path}: it is a folder")
    if os.path.exists(path):
        raise SweepError(f"{path} is there already; {advice}")


# A field, which no writer of CSV ends elsewhere than before a comma or a line end.
_FIELD = re.compile(rb'"[^"]*(?:""[^"]*)*"|[^",\r\n]*')
_LINE_END = re.compile(rb"\r?\n")


def _whole_records(path, data):
    """The length of what is whole in `data`. A process that is killed leaves one record cut off at the end: any other damage
    is refused, because what follows it would be lost."""
    start = position = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    row, fields, fields_of_header = 1, 1, None
    while position < len(data):
        position = _FIELD.match(data, position).end()
        end = _LINE_END.match(data, position)
        if data[position:position + 1] == b",":
            position, fields = position + 1, fields + 1
        elif end:
            fields_of_header = fields_of_header or fields
            start = position = end.end()
            row, fields = row + 1, 1
        elif data[position:] == b"\r":
            break  # cut off within the line end
        elif position < len(data):
            if data[position:position + 1] != b'"' or data[position - 1:position] not in (b",", b"\n", b""):
                raise SweepError(f"{path}: row {row} is damaged: a stray quote or line end in field {fields}")
            # Nothing closes this quote: either the record was cut off inside of the field, or the quote is a stray one, and
            # the other fields of its row are behind it.
            line, ends, _ = data[position:].partition(b"\n")
            if ends and (data.endswith(b"\n") or line.count(b",") >= (fields_of_header or 1) - fields):
                raise SweepError(f"{path}: row {row} is damaged: nothing closes the quote of field {fields}")
            break
    return start


def read(path):
    """-> (header, rows, length of the whole part in bytes, length of the file)."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise SweepError(f"cannot read {path}: {error.strerror}") from None
    first = data.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    if first.startswith((b"{", b"[")):
        raise SweepError(f"{path}: JSON, not CSV")
    if b";" in first and b"," not in first:
        raise SweepError(f"{path}: separated by semicolons; save it with commas")
    whole = _whole_records(path, data)
    try:
        text = data[:whole].decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        rows = list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise SweepError(f"{path}: not CSV in UTF-8: {error}") from None
    header = reader.fieldnames or []
    missing = [name for name in ["name", "cache", "status", *OWN_COLUMNS] if name not in header]
    if missing:
        raise SweepError(f"{path}: not written by sweep.py: no column {missing[0]}")
    seen = {}
    for line, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise SweepError(f"{path}: row {line} has not the {len(header)} fields of the header")
        for column in ("case_index", "num_cases"):
            if not row[column].isdecimal():
                raise SweepError(f"{path}: row {line}: {column} is \"{row[column]}\", not a whole number")
        if int(row["case_index"]) >= int(row["num_cases"]):
            raise SweepError(f"{path}: row {line} is case {row['case_index']} of {row['num_cases']}")
        for column, allowed in (("status", STATUSES), ("cache", _CACHES)):
            if row[column] not in allowed:
                raise SweepError(f"{path}: row {line}: {column} is \"{row[column]}\"; there are {', '.join(allowed)}")
        first = seen.setdefault(key_of(row), line)
        if first != line:
            raise SweepError(f"{path}: row {line} is {row['name']} ({row['cache']}), as row {first} is")
    return header, rows, whole, len(data)


def _text(header, rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, header, lineterminator="\r\n")  # as RFC 4180 has it
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def _write_all(descriptor, data):
    done = 0
    while done < len(data):
        done += os.write(descriptor, data[done:])


def _replace(path, data, lock=False):
    """Writes the file anew, or leaves the old one. -> its descriptor if it is to be locked and kept open."""
    target = os.path.realpath(path)  # behind a link, which stays one
    if is_special(target):
        raise SweepError(f"cannot write {path}: it is no regular file")
    name = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", dir=os.path.dirname(target))
        mask = os.umask(0)
        os.umask(mask)
        os.fchmod(descriptor, 0o666 & ~mask)
        _write_all(descriptor, data)
        os.fsync(descriptor)
        if lock:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.replace(name, target)
    except OSError as error:
        if name is not None and os.path.exists(name):
            os.unlink(name)
        raise _cannot_write(path, error) from None
    if lock:
        return descriptor
    os.close(descriptor)
    return None


class CsvFile:
    """An open CSV that grows by rows, each on disk before the next is measured. Locked against a second sweep.
    `check` sees the rows that are there, and may refuse them, before the file is touched."""

    def __init__(self, path, header, resume, check):
        self.path, self.header = path, header
        if is_special(path):
            raise SweepError(f"cannot write {path}: it is no regular file, and rows are read again")
        if not resume or os.path.isdir(path):
            _refuse_what_is_there(path, "--resume goes on with it, another -o starts a new one")
        self.rows = []
        if os.path.exists(path):
            self._take_over(check)
        else:
            self._start()

    def _start(self):
        try:
            self._descriptor = _replace(self.path, _text(self.header, []), lock=True)
        except SweepError as error:
            error.code = 2  # nothing was run yet
            raise

    def _take_over(self, check):
        """Keeps every whole row that is no error: those are measured again."""
        with open(self.path, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise SweepError(f"{self.path}: another sweep is writing it") from None
            if os.path.getsize(self.path) == 0:
                header, rows = self.header, []
            else:
                header, rows, whole, length = read(self.path)
                if whole < length:
                    print(f"sweep.py: {self.path}: its last row is not whole and measured again", file=sys.stderr)
            if header != self.header:
                raise SweepError(f"{self.path}: its columns are those of another version of rope-bench; "
                                 "finish it with that one, or start a new file")
            check(rows)
            self.rows = [row for row in rows if row["status"] != "error"]
            self._descriptor = _replace(self.path, _text(header, self.rows), lock=True)

    def add(self, row):
        line = io.StringIO()
        csv.DictWriter(line, self.header, lineterminator="\r\n").writerow(row)
        end = os.lseek(self._descriptor, 0, os.SEEK_END)
        try:
            _write_all(self._descriptor, line.getvalue().encode())
            os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, end)  # a full disk leaves no half row
            raise _cannot_write(self.path, error) from None
        self.rows.append(row)

    def finish(self):
        """Rows in the order of the sweep: a resumed one has added them in another."""
        ordered = sorted(self.rows, key=order_of)
        if ordered != self.rows:
            self.rows = ordered
            os.close(self._descriptor)
            self._descriptor = _replace(self.path, _text(self.header, ordered), lock=True)

    def close(self):
        os.close(self._descriptor)


def _write_in_place(path, data):
    try:
        with open(path, "wb", buffering=0) as file:
            _write_all(file.fileno(), data)
    except OSError as error:
        raise _cannot_write(path, error) from None


def _refuse_output(paths, output):
    """A merge writes what a sweep would: a new file; a pipe or a device it writes to."""
    if is_special(output):
        return
    if any(os.path.realpath(path) == os.path.realpath(output) for path in paths):
        raise SweepError(f"-o {output} is one of the files to read")
    _refuse_what_is_there(output, "another -o writes a new file")


def _changes_of(path, row):
    """Axes and other flags of a row, without its config, from its sweep_flags."""
    try:
        words = shlex.split(row["sweep_flags"])
    except ValueError:
        raise SweepError(f"{path}: {row['name']}: sweep_flags is damaged: {row['sweep_flags']}") from None
    words = words[2:]
    axes = []
    while words[:1] == ["-a"]:
        axes.append(words[1:2])
        words = words[2:]
    return " ".join(shlex.join(axis) for axis in axes), shlex.join(words)


def _one_sweep(parts):
    """-> the places of all rows in their sweep. Refuses parts that one sweep cannot have: it has the same axes for all its
    configs, the same other flags everywhere, one case at a place, and the cases of a config one after the other."""
    seen = {}

    def agree(what, value, path):
        other, where = seen.setdefault(what, (value, path))
        if other != value:
            raise SweepError(f"these are parts of different sweeps: {what} {other or 'nothing'} in {where} and "
                             f"{value or 'nothing'} in {path}")
    of_index, jobs = {}, {}
    for path, rows in parts:
        for row in rows:
            index, flags, sweep = int(row["case_index"]), row["sweep_flags"], row["sweep"]
            axes, others = _changes_of(path, row)
            agree(f"the axes of {sweep} are", axes, path)
            agree("the other flags are", others, path)
            agree(f"case {index} is", row["name"], path)
            agree(f"case {index} is of", f"{sweep} with {flags}", path)
            agree(f"{row['name']} of {sweep} with {flags} is case", index, path)
            agree("the number of cases is", row["num_cases"], path)
            of_index[index] = (sweep, flags, path)
    last = None
    for index in sorted(of_index):
        sweep, flags, path = of_index[index]
        if (sweep, flags) != last and (sweep, flags) in jobs:
            raise SweepError(f"these are parts of different sweeps: {sweep} with {flags} has case {jobs[sweep, flags]} and "
                             f"case {index} ({path}), and another has one between them")
        jobs[sweep, flags], last = index, (sweep, flags)
    return set(of_index)


def merge(paths, output):
    """The rows of all files in the order of the sweep, in `output`."""
    _refuse_output(paths, output)
    header, rows, parts, seen = None, [], [], {}
    for path in paths:
        its_header, its_rows, whole, length = read(path)
        if whole < length:
            print(f"sweep.py: {path}: its last row is not whole and left out", file=sys.stderr)
        if header is None:
            header = its_header
        elif sorted(header) != sorted(its_header):
            odd = sorted(set(header) ^ set(its_header))[0]
            raise SweepError(f"{path} and {paths[0]} have different columns, for example {odd}")
        for row in its_rows:
            if key_of(row) in seen:
                raise SweepError(f"{row['name']} ({row['cache']}) is in {seen[key_of(row)]} and in {path}")
            seen[key_of(row)] = path
        rows += its_rows
        parts.append((path, its_rows))
    indices = _one_sweep(parts)
    missing = [i for i in range(int(rows[0]["num_cases"]) if rows else 0) if i not in indices]
    if missing:
        print(f"sweep.py: {len(missing)} of {rows[0]['num_cases']} cases are in none of the files; the first is case "
              f"{missing[0]}", file=sys.stderr)
    write = _write_in_place if is_special(output) else _replace
    write(output, _text(header, sorted(rows, key=order_of)))
    print(f"sweep.py: {len(rows)} rows of {len(paths)} files in {output}", file=sys.stderr)
