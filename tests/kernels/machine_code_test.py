"""What no test without a GPU sees in the sources: the machine code of the CUDA kernels.

Usage: machine_code_test.py LIBRARY [CUOBJDUMP]

* An overlapped launch accesses no global memory before it has waited for the launch before: the compiler may move a load
  of read-only memory across the wait. Only peeks (LDG...STRONG) may come earlier, and prefetches.
* Plain kernels without a norm have computed their addresses when the wait ends: the compiler may sink that behind it.
* A block of 1024 threads can be launched: 65536 registers.
* No kernel keeps arrays in local memory.

Exit code 77 without cuobjdump and nvdisasm, or if the library holds no code of compute capability 9.0 and up.
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

LIBRARY, CUOBJDUMP = "", ""
MOST_REGISTERS = 64
MOST_STACK = 16  # a few spilled registers
MOST_BEHIND = {"1": 10, "2": 20}  # by heads of a thread: instructions between the wait and the loads of its packets
PLAIN = re.compile(r"rope_plain_kernel.*Li\d+ELi(\d)E\w*?PlainModeE[01]E")

FUNCTION = re.compile(r"\s*Function\s*:\s*(\S+)")
INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,5})\*/\s+(.*?)\s*;")
ACCESS = re.compile(r"\b(LDG|LDGSTS|STG|LD|ST|ATOM|ATOMG|RED|REDG)\b")
BRANCH = re.compile(r"\bBR[AX]\b.*?(?:0x([0-9a-f]+))?\s*$")
RESOURCES = re.compile(r"Function (\S+?):\s+REG:(\d+) STACK:(\d+)")


def functions(lines):
    """-> (name, [(address, instruction)]) of each function in the text of cuobjdump -sass."""
    name, code = None, []
    for line in lines:
        start = FUNCTION.match(line)
        if start:
            if code:
                yield name, code
            name, code = start.group(1), []
            continue
        instruction = INSTRUCTION.match(line)
        if instruction:
            code.append((int(instruction.group(1), 16), instruction.group(2)))
    if code:
        yield name, code


def waits(code):
    return any("ACQBULK" in text for _, text in code)


def early_accesses(code):
    """Accesses of global memory that a thread can come to before the wait for the launch before."""
    place = {address: i for i, (address, _) in enumerate(code)}
    seen, todo, early = set(), [0], []
    while todo:
        i = todo.pop()
        while i < len(code) and i not in seen:
            seen.add(i)
            text = code[i][1]
            always = not text.startswith("@")
            if "ACQBULK" in text and always:
                break
            if ACCESS.search(text) and "STRONG" not in text:
                early.append(text)
            branch = BRANCH.search(text)
            if branch and branch.group(1):
                todo.append(place[int(branch.group(1), 16)])
            if always and (branch or "EXIT" in text or re.match(r"RET\b", text)):
                break
            i += 1
    return early


def loads_in_front(name):
    """How many loads a plain kernel begins with: two packets; before them, with a table, the position of its token, which
    is one load where tokens are in order (TokensE0), and one for each width where they have positions of their own (E1)."""
    if "SourceE2E" in name or "TokensE2E" in name:
        return 2
    return 4 if "TokensE1E" in name else 3


def behind_the_wait(code, wanted):
    """The number of other instructions between the wait and the last of so many loads; None: there are fewer."""
    texts = [text for _, text in code]
    wait = next(i for i, text in enumerate(texts) if "ACQBULK" in text)
    loads = [i for i, text in enumerate(texts[wait + 1:]) if re.search(r"\bLDG\b", text)]
    return loads[wanted - 1] - (wanted - 1) if len(loads) >= wanted else None


class Checks(unittest.TestCase):
    """The checks themselves, on code that is made up."""
    def early(self, *instructions):
        return early_accesses([(16 * i, text) for i, text in enumerate(instructions)])

    def test_accesses_behind_the_wait(self):
        self.assertEqual(self.early("S2R R0, SR_TID.X", "ACQBULK", "LDG.E R2, [R4]", "EXIT"), [])
        self.assertEqual(self.early("LDG.E.STRONG.GPU R2, [R4]", "CCTL.E.PF2 [R4]", "ACQBULK", "LDG.E R2, [R4]", "EXIT"), [])

    def test_accesses_before_the_wait(self):
        self.assertEqual(self.early("@!P6 LDG.E.CONSTANT R25, [R2]", "ACQBULK", "EXIT"), ["@!P6 LDG.E.CONSTANT R25, [R2]"])
        self.assertEqual(self.early("@P0 ACQBULK", "STG.E [R2], R3", "EXIT"), ["STG.E [R2], R3"])

    def test_accesses_on_the_way_round_the_wait(self):
        self.assertEqual(self.early("@P0 BRA 0x30", "ACQBULK", "EXIT", "LDG.E R2, [R4]", "EXIT"), ["LDG.E R2, [R4]"])
        self.assertEqual(self.early("BRA 0x20", "LDG.E R2, [R4]", "ACQBULK", "EXIT"), [])
        self.assertEqual(self.early("@P0 EXIT", "ATOMG.E.ADD R2, [R4], R3", "ACQBULK"), ["ATOMG.E.ADD R2, [R4], R3"])

    def test_instructions_behind_the_wait(self):
        code = list(enumerate(["LDG.E R2, [R4]", "ACQBULK", "MOV R1, R2", "@P0 LDG.E R2, [R4]", "LDG.E R3, [R4]", "MOV R1, R2",
                               "LDG.E R6, [R4]", "EXIT"]))
        self.assertEqual(behind_the_wait(code, 2), 1)
        self.assertEqual(behind_the_wait(code, 3), 2)
        self.assertIsNone(behind_the_wait(code, 4))


class MachineCode(unittest.TestCase):
    def test_what_is_done_before_the_wait(self):
        overlapped, early, behind = 0, {}, {}
        with subprocess.Popen([CUOBJDUMP, "-sass", LIBRARY], stdout=subprocess.PIPE, text=True) as process:
            for name, code in functions(process.stdout):
                if not waits(code):
                    continue
                overlapped += 1
                found = early_accesses(code)
                if found:
                    early[name] = found
                plain = PLAIN.search(name)
                if plain:
                    behind[name] = behind_the_wait(code, loads_in_front(name)), MOST_BEHIND[plain.group(1)]
        self.assertEqual(process.returncode, 0)
        self.assertEqual(early, {})
        self.assertGreater(overlapped, 100)
        self.assertGreater(len(behind), 100)
        self.assertEqual({name: n for name, (n, most) in behind.items() if n is None or n > most}, {})

    def test_the_largest_block_can_be_launched(self):
        done = subprocess.run([CUOBJDUMP, "-res-usage", LIBRARY], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=True)
        usage = [(name, int(registers), int(stack)) for name, registers, stack in RESOURCES.findall(done.stdout)]
        self.assertGreater(len(usage), 100)
        self.assertEqual([row for row in usage if row[1] > MOST_REGISTERS or row[2] > MOST_STACK], [])


def skip(reason):
    print("machine_code_test: " + reason)
    sys.exit(77)


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    beside_nvcc = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    CUOBJDUMP = beside_nvcc if os.path.exists(beside_nvcc) else shutil.which("cuobjdump")
    if not CUOBJDUMP:
        skip("no cuobjdump")
    # It finds nvdisasm beside itself, or in PATH.
    os.environ["PATH"] = os.path.dirname(os.path.abspath(CUOBJDUMP)) + os.pathsep + os.environ["PATH"]
    if not shutil.which("nvdisasm"):
        skip("no nvdisasm")
    listed = subprocess.run([CUOBJDUMP, "-lelf", LIBRARY], stdout=subprocess.PIPE, text=True, check=True).stdout
    if not re.search(r"sm_(9|1[0-9])\d", listed):
        skip("no code of compute capability 9.0 and up")
    unittest.main()
