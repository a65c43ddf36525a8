"""Locales that write decimal commas, for tests of programs that must not."""
import os
import shutil
import subprocess
import sys


def comma_locales(folder):
    """Environments of up to two decimal-comma locales that are installed, or that can be made in this folder."""
    if shutil.which("localedef"):
        for name in ("de_DE", "fr_FR"):
            subprocess.run(["localedef", "-i", name, "-f", "UTF-8", os.path.join(folder, f"{name}.UTF-8")],
                           capture_output=True, check=False)
    names = [("", name) for name in subprocess.run(["locale", "-a"], capture_output=True, text=True,
                                                   check=False).stdout.split()]
    names += [(folder, name) for name in ("de_DE.UTF-8", "fr_FR.UTF-8")]
    probe = "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.localeconv()['decimal_point'])"
    found = []
    for path, name in names:
        environment = {**os.environ, "LC_ALL": name, **({"LOCPATH": path} if path else {})}
        done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False,
                              env=environment)
        if done.returncode == 0 and done.stdout.strip() == ",":
            found.append(environment)
    return found[:2]
