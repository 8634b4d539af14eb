# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Proves that check.py can complain: test_check.py COMPILER"""
import sys
import tempfile
import unittest
from pathlib import Path

import check

COMPILER = [sys.argv.pop()]


class CheckCanFail(unittest.TestCase):
    def complaints(self, text):
        with tempfile.TemporaryDirectory() as folder:
            case = Path(folder, "case.cpp")
            case.write_text(text)
            return check.check(case, COMPILER)

    def test_a_good_case_passes(self):
        self.assertEqual([], self.complaints(
            '// expect: needs a number\n#ifndef STRAGGLE_CONTROL\nstatic_assert(false, "needs a number");\n#endif\n'))

    def test_accepted_code_is_reported(self):
        self.assertIn("must be refused", self.complaints("// expect: anything\nint x;\n")[0])

    def test_the_wrong_reason_is_reported(self):
        self.assertIn("needs a number", self.complaints(
            "// expect: needs a number\n#ifndef STRAGGLE_CONTROL\nint x = nonsense;\n#endif\n")[0])

    def test_every_expectation_counts(self):
        self.assertIn("second", self.complaints(
            '// expect: first\n// expect: second\n#ifndef STRAGGLE_CONTROL\n'
            'static_assert(false, "first");\n#endif\n')[0])

    def test_a_case_without_expectation_is_reported(self):
        self.assertIn("expect", self.complaints("#ifndef STRAGGLE_CONTROL\nnonsense\n#endif\n")[0])

    def test_expectations_of_the_other_compiler_do_not_count(self):
        self.assertEqual([], self.complaints(
            "// expect: nonsense\n// expect-gcc: (does not name a type|nonsense)\n// expect-clang: nonsense\n"
            "#ifndef STRAGGLE_CONTROL\nnonsense x;\n#endif\n"))


if __name__ == "__main__":
    unittest.main()
