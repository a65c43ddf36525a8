"""scripts/sweep.sbatch on a Slurm of one node, brought up for the test. Usage: slurm_test.py BINARY"""
import csv
import os
import shutil
import socket
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
from sweep_case import BINARY, ROOT, SweepTest, read  # noqa: E402

DAEMONS = ("munged", "slurmctld", "slurmd")
PATH = os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"  # where Debian keeps daemons, for whoever has a shorter one

# cons_tres counts the GPU that the script asks for; /dev/null is as good a device as any for counting.
CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} Gres=gpu:1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


@unittest.skipUnless(all(shutil.which(d, path=PATH) for d in DAEMONS) and shutil.which("sbatch"), "Slurm is not installed")
@unittest.skipUnless(os.geteuid() == 0, "Slurm's daemons want to be root")
class OneNode(SweepTest):
    def setUp(self):
        super().setUp()
        self.slurm = self.file("slurm")
        for name in ("", "state", "spool", "munge"):
            os.mkdir(os.path.join(self.slurm, name))
            os.chmod(os.path.join(self.slurm, name), 0o755)
        key = os.path.join(self.slurm, "munge", "key")
        with open(key, "wb") as file:
            file.write(os.urandom(128))
        os.chmod(key, 0o400)
        os.chmod(os.path.dirname(key), 0o700)
        config = os.path.join(self.slurm, "slurm.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(host=socket.gethostname().split(".")[0], folder=self.slurm, ports=free_ports(2),
                                     cpus=os.cpu_count()))
        with open(os.path.join(self.slurm, "gres.conf"), "w", encoding="utf-8") as file:
            file.write("Name=gpu File=/dev/null\n")
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": config}
        self.daemons = []
        self.addCleanup(self.stop)
        self.start("munged", "--foreground", f"--key-file={key}", f"--socket={self.slurm}/munge.socket", "--force",
                   f"--pid-file={self.slurm}/munge/pid", f"--seed-file={self.slurm}/munge/seed",
                   f"--log-file={self.slurm}/munge/log")
        self.wait_for(lambda: os.path.exists(f"{self.slurm}/munge.socket"), "munged")
        self.start("slurmctld", "-D", "-i")
        self.start("slurmd", "-D")
        self.wait_for(lambda: "idle" in self.command("sinfo", "-h", "-o", "%T").stdout, "a node")

    def start(self, *command):
        with open(os.path.join(self.slurm, f"{command[0]}.out"), "w", encoding="utf-8") as log:
            self.daemons.append(subprocess.Popen(command, env=self.environment, stdout=log, stderr=log))

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def command(self, *words):
        return subprocess.run(words, env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False)

    def wait_for(self, ready, what):
        for _ in range(600):
            if ready():
                return
            time.sleep(0.1)
        logs = []
        for name in os.listdir(self.slurm):
            if name.endswith((".log", ".out")):
                with open(os.path.join(self.slurm, name), encoding="utf-8", errors="replace") as file:
                    logs.append(f"{name}:\n{file.read()[-2000:]}")
        self.fail(f"{what} does not come up\n" + "\n".join(logs))

    def test_an_array_sweeps_and_its_parts_are_the_whole(self):
        os.symlink(os.path.join(ROOT, "scripts"), self.file("scripts"))
        sweep = ("tokens", "-c", self.config, "-a", "tokens=1-4", "--no-measure", "--binary", BINARY, "-d", "cpu")
        submit = ("sbatch", "--wait", "--output=task%a.log", "--array=0-2", "scripts/sweep.sbatch", *sweep)
        done = self.command(*submit)
        logs = ""
        for task in range(3):
            if os.path.exists(self.file(f"task{task}.log")):
                with open(self.file(f"task{task}.log"), encoding="utf-8") as file:
                    logs += file.read()
        self.assertEqual(done.returncode, 0, done.stderr + logs)
        parts = [f"part{task}.csv" for task in range(3)]
        done = self.sweep("--merge", *parts, "-o", "merged.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.checked(*sweep[:5], "-o", "whole.csv")
        self.assertEqual(read(self.file("merged.csv")), read(self.file("whole.csv")))
        # Submitted again, as after a requeue: rows that are there are kept as they are.
        marked = read(self.file(parts[0]))
        marked[0]["labels"] = "kept"
        with open(self.file(parts[0]), "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(marked[0]))
            writer.writeheader()
            writer.writerows(marked)
        self.assertEqual(self.command(*submit).returncode, 0)
        self.assertEqual(read(self.file(parts[0])), marked)


if __name__ == "__main__":
    unittest.main()
