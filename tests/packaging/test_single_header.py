# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""What packaging/single_header.py makes of small libraries, and what it refuses to make."""
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "packaging"), str(ROOT / "packaging/module")]

import make_module  # noqa: E402  (both need the path)
import single_header  # noqa: E402

VERSION = "#define STRAGGLE_VERSION_MAJOR 1\n#define STRAGGLE_VERSION_MINOR 20\n#define STRAGGLE_VERSION_PATCH 3\n"


class Library(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "LICENSE").write_text("The license.\n\nAll of it.\n")
        self.header("version.hpp", VERSION)

    def header(self, name, code, top=single_header.NOTICE + "\n/// @file\n"):
        file = self.root / "include/straggle" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{top}/// What {name} is for.\n#pragma once\n{textwrap.dedent(code)}")

    def umbrella(self, *names, code=""):
        includes = "".join(f"#include <straggle/{name}>\n" for name in ("version.hpp", *names))
        self.header("straggle.hpp", includes + code)

    def text(self):
        return single_header.single_header(self.root)

    def code(self):
        """Everything but comments and blank lines."""
        return [line for line in self.text().splitlines() if line and not line.startswith("//")]


class Made(Library):
    def test_head(self):
        self.umbrella()
        head = self.text().partition("#ifndef")[0]
        self.assertTrue(head.startswith("// straggle 1.20.3, "))
        self.assertIn("// The license.\n//\n// All of it.\n", head)

    def test_order_and_includes(self):
        self.header("core/b.hpp", "\n#include <vector>\n#include <algorithm>\n\nint b;\n")
        self.header("core/a.hpp", "\n#include <straggle/core/b.hpp>\n\n#include <vector>\n\nint a;\n")
        self.umbrella("core/a.hpp", "core/b.hpp")
        code = self.code()
        self.assertEqual(["#include <algorithm>", "#include <vector>"], [c for c in code if c.startswith("#include")])
        self.assertEqual(["int b;", "int a;"], [c for c in code if c.startswith("int")])

    def test_text_stays_as_it_is(self):
        self.header("core/a.hpp", """\

            #include <vector>

            namespace straggle {
            /// #include <straggle/core/b.hpp>
            inline char const* text = "#include <vector>"; // 1'000

            // clang-format off
            int   table[] = {1,2};
            } // namespace straggle
            """)
        self.umbrella("core/a.hpp")
        self.assertIn(f'// straggle/core/a.hpp\n//\n// What core/a.hpp is for.\n{single_header.RULE}\n'
                      'namespace straggle {\n/// #include <straggle/core/b.hpp>\n'
                      'inline char const* text = "#include <vector>"; // 1\'000\n\n'
                      '// clang-format off\nint   table[] = {1,2};\n} // namespace straggle\n', self.text())

    def test_include_in_a_condition_stays(self):
        self.header("core/a.hpp", "\n#if defined(X)\n#include <atomic>\n#endif\n#include <vector>\n\nint a;\n")
        self.umbrella("core/a.hpp")
        code = self.code()
        at = code.index("#if defined(X)")
        self.assertEqual(["#include <atomic>", "#endif", "int a;"], code[at + 1:at + 4])

    def test_include_in_a_condition_goes_if_it_is_above_anyway(self):
        self.header("core/a.hpp", "\n#if defined(X)\n#include <atomic>\n#endif\n#include <vector>\n\nint a;\n")
        self.header("core/b.hpp", "\n#include <atomic>\n\nint b;\n")
        self.umbrella("core/a.hpp", "core/b.hpp")
        self.assertNotIn("#if defined(X)", self.text())
        self.assertEqual(1, self.text().count("#include <atomic>"))

    def test_what_is_asked_for_by_name(self):
        self.header("detect/a.hpp", "int a;\n")
        self.header("detect.hpp", "#include <straggle/detect/a.hpp>\n")
        self.header("learn/b.hpp", "int b;\n")
        self.header("learn.hpp", "#include <straggle/learn/b.hpp>\n")
        self.header("papers/c.hpp", "#include <straggle/learn/b.hpp>\nint c;\n")
        self.umbrella("detect.hpp")
        self.assertEqual(["int a;", "int b;", "int c;"], [c for c in self.code() if c.startswith("int")])
        self.assertNotIn("// straggle/learn.hpp", self.text())

    def test_this_library(self):
        self.assertEqual(single_header.single_header(), single_header.single_header())


class RefusedToMake(Library):
    def assert_refused(self, words):
        with self.assertRaises(single_header.Refused) as caught:
            self.text()
        self.assertIn(words, str(caught.exception))

    def test_forgotten_header(self):
        self.header("core/a.hpp", "int a;\n")
        self.umbrella()
        self.assert_refused("do not reach straggle/core/a.hpp")

    def test_missing_header(self):
        self.umbrella("core/gone.hpp")
        self.assert_refused("includes straggle/core/gone.hpp, which does not exist")

    def test_circle(self):
        self.header("core/a.hpp", "#include <straggle/core/b.hpp>\n")
        self.header("core/b.hpp", "#include <straggle/core/a.hpp>\n")
        self.umbrella("core/a.hpp")
        self.assert_refused("core/a.hpp -> straggle/core/b.hpp -> straggle/core/a.hpp")

    def test_form(self):
        for code, words in (('#include "b.hpp"\n', "not understood"), ("# include <vector>\n", "not understood"),
                            ("int a;\n#include <vector>\n", "below code"),
                            ("#if X\n#include <straggle/version.hpp>\n#endif\n", "inside of a condition")):
            with self.subTest(code):
                self.header("core/a.hpp", code)
                self.umbrella("core/a.hpp")
                self.assert_refused(words)

    def test_no_license(self):
        self.header("core/a.hpp", "", top="/// @file\n")
        self.umbrella("core/a.hpp")
        self.assert_refused("must begin with the license")

    def test_umbrella_with_code(self):
        self.umbrella(code="int a;\n")
        self.assert_refused("more than includes")

    def test_no_version(self):
        self.header("version.hpp", "#define STRAGGLE_VERSION_MAJOR 1\n")
        self.umbrella()
        self.assert_refused("three numbers")


class Module(Library):
    def test_names(self):
        self.header("core/a.hpp", """\
            namespace straggle::inline STRAGGLE_ABI {
            class only_said;
            namespace detail { struct hidden {}; }
            template <class T> concept c = true;
            class a { public: int member; friend bool operator==(a, a) = default; friend void hidden_friend(a) {} };
            template <class T> a(T) -> a;
            enum class e { one };
            void f();
            void f(int);
            inline constexpr int v = 1;
            using t = int;
            }
            namespace straggle::inline STRAGGLE_ABI::detect { struct late {}; }
            """)
        self.umbrella("core/a.hpp")
        text = make_module.module(self.root)
        names = [line.removeprefix("using straggle::").rstrip(";") for line in text.splitlines()
                 if line.startswith("using ")]
        self.assertEqual(["only_said", "c", "a", "e", "f", "v", "t", "detect::late"], names)
        self.assertIn("namespace detect {\nusing straggle::detect::late;\n}\n", text)


if __name__ == "__main__":
    unittest.main()
