# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Proves that every hygiene check can fail, and that it fails for nothing else: each test writes a small library
with one thing wrong."""
import tempfile
import textwrap
import unittest
from pathlib import Path

import doc_comments
import forbidden_words
import header_form
import include_direction
import linkage
import links
import mirror
import rule_table
from declarations import declarations
from headers import without_comments

TOP = "// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.\n" \
      "// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)\n\n" \
      "/// @file\n/// What it is for.\n"


class Library(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)

    def write(self, path, text=""):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def header(self, name, code="", top=TOP):
        self.write(f"include/straggle/{name}", f"{top}#pragma once\n{textwrap.dedent(code)}")

    def complaints(self, check):
        """Complaints without the folder, so that they can be compared."""
        return [c.replace(f"{self.root}/", "") for c in check.check(self.root)]

    def assert_one(self, check, *words):
        found = self.complaints(check)
        self.assertEqual(1, len(found), found)
        for word in words:
            self.assertIn(word, found[0])


class IncludeDirection(Library):
    def test_leftward_and_own_room_are_fine(self):
        self.header("config.hpp")
        self.header("base/outcome.hpp", "#include <straggle/base/config.hpp>\n#include <vector>\n")
        self.header("stats/order.hpp", "#include <straggle/base/outcome.hpp>\n#include <straggle/stats/tail.hpp>\n")
        self.header("stats/tail.hpp")
        self.header("presets.hpp", "#include <straggle/stats/order.hpp>\n")
        self.header("straggle.hpp", "#include <straggle/papers/dsb_2019.hpp>\n#include <straggle/stats/order.hpp>\n")
        self.assertEqual([], self.complaints(include_direction))

    def test_rightward(self):
        self.header("base/outcome.hpp", "#include <straggle/stats/order.hpp>\n")
        self.header("stats/order.hpp")
        self.assert_one(include_direction, "base/outcome.hpp:7", "not left of")

    def test_room_includes_what_stands_above(self):
        self.header("core/a.hpp", "#include <straggle/papers/dsb_2019.hpp>\n")
        self.header("presets.hpp")
        self.assert_one(include_direction, "stands above")

    def test_foundation_includes_a_room(self):
        self.header("fwd.hpp", "#include <straggle/core/a.hpp>\n")
        self.header("core/a.hpp")
        self.assert_one(include_direction, "cannot include a room")

    def test_neighbours_of_the_same_number(self):
        self.header("predict/weights.hpp", "#include <straggle/blacklist/limits.hpp>\n")
        self.header("blacklist/limits.hpp")
        self.assert_one(include_direction, "not left of")

    def test_circle_in_a_room(self):
        self.header("core/a.hpp", "#include <straggle/core/b.hpp>\n")
        self.header("core/b.hpp", "#include <straggle/core/a.hpp>\n")
        self.assert_one(include_direction, "circle: straggle/core/a.hpp -> straggle/core/b.hpp -> straggle/core/a.hpp")

    def test_unknown_room_missing_file_umbrella_and_quotes(self):
        for code, word in (("<straggle/attic/a.hpp>", "no such room"), ("<straggle/core/gone.hpp>", "does not exist"),
                           ("<straggle/straggle.hpp>", "umbrella"), ('"b.hpp"', "write #include <straggle/")):
            with self.subTest(code):
                self.setUp()
                self.header("attic/a.hpp")
                self.header("straggle.hpp")
                self.header("core/b.hpp", f"#include {code}\n")
                self.assert_one(include_direction, word)

    def test_includes_in_comments_do_not_count(self):
        self.header("core/a.hpp", "// #include <straggle/stats/order.hpp>\n/* \n#include <straggle/x.hpp>\n*/\n")
        self.assertEqual([], self.complaints(include_direction))


class ForbiddenWords(Library):
    def test_each(self):
        for code, word in (("void f() { throw 1; }", "throw"), ("void f() try {} catch (...) {}", "try"),
                           ("auto& t = typeid(int);", "typeid"), ("auto p = dynamic_cast<int*>(q);", "dynamic_cast"),
                           ("#include <iostream>", "<iostream>"), ("#include <random>", "<random>"),
                           ("# include <chrono>", "<chrono>"), ("#include <memory_resource>", "<memory_resource>"),
                           ("auto x = std::min(1, 2);", "(std::min)("), ("auto x = limits::max ();", "(std::max)("),
                           ("#define SMALL 1", "config.hpp"), ("struct s { virtual void f(); };", "virtual")):
            with self.subTest(code):
                self.setUp()
                self.header("core/a.hpp", code + "\n")
                self.assertTrue(any(word in c for c in self.complaints(forbidden_words)))

    def test_what_is_allowed(self):
        self.header("config.hpp", "#define STRAGGLE_HAS_INT128 1\n")
        self.header("core/a.hpp", """\
            // may throw; try std::max(a, b)
            constexpr auto text = "throw std::min(a, b)";
            auto x = (std::max)(1'000'000, 2);
            auto y = (std::numeric_limits<double>::max)();
            auto entry = trying(rethrow);
            """)
        self.assertEqual([], self.complaints(forbidden_words))


class HeaderForm(Library):
    def test_good(self):
        self.header("core/a.hpp")
        self.assertEqual([], self.complaints(header_form))

    def test_no_licence(self):
        self.header("core/a.hpp", top="/// @file\n/// Text.\n")
        self.assert_one(header_form, "licence")

    def test_no_pragma_once(self):
        self.write("include/straggle/core/a.hpp", TOP)
        self.assert_one(header_form, "pragma once")

    def test_too_long(self):
        self.header("core/a.hpp", "\n" * 500)
        self.assert_one(header_form, "lines")


class Mirror(Library):
    def test_good(self):
        self.header("config.hpp")
        self.header("core/a.hpp", "#include <straggle/core/b.hpp>\n")
        self.header("core/b.hpp", top=TOP + "/// Private part\n/// of `a.hpp`.\n")
        self.write("tests/core/a.cpp")
        self.write("bench/core/a.cpp")
        self.assertEqual([], self.complaints(mirror))

    def test_untested_header(self):
        self.header("core/a.hpp")
        self.assert_one(mirror, "no tests/core/a.cpp")

    def test_private_part_with_public_names(self):
        self.header("core/a.hpp", "#include <straggle/core/b.hpp>\n")
        self.write("tests/core/a.cpp")
        self.header("core/b.hpp", "namespace straggle { void f(); }\n", top=TOP + "/// (private part of `a.hpp`)\n")
        self.assert_one(mirror, "names outside of detail")

    def test_private_part_that_is_not_used(self):
        self.header("core/b.hpp", "namespace straggle::detail { void f(); }\n", top=TOP + "/// Private part of A.\n")
        self.assert_one(mirror, "no header includes")

    def test_orphans(self):
        for folder in "tests", "bench":
            with self.subTest(folder):
                self.setUp()
                self.write(f"{folder}/core/a.cpp")
                self.assert_one(mirror, "there is no include/straggle/core/a.hpp")


class DocComments(Library):
    def undocumented(self, code):
        self.header("core/a.hpp", "namespace straggle {\n" + textwrap.dedent(code) + "}\n")
        return [c.split(": ", 1)[1].split(" has no")[0] for c in self.complaints(doc_comments)]

    def test_every_kind(self):
        self.assertEqual(
            ["type s", "function s", "variable x", "function f", "function operator()", "alias t", "type e",
             "enumerator one", "enumerator two", "concept c", "function g", "variable v", "type k", "function h",
             "alias u", "function w"],
            self.undocumented("""\
                struct s {
                    explicit s(int a) : x{a}, y_(a) {}
                    int x = 0;
                    double f() const noexcept { return 1; }
                    template <class T> requires (sizeof(T) > 1) void operator()(T) const;
                  private:
                    int y_;
                    void hidden();
                };
                template <class T> using t = T;
                enum class e : int { one, two = f(1, 2), };
                template <class T> concept c = requires(T a) { a.b(); };
                template <class T> requires requires(T a) { a.b(); } decltype(auto) g(T) { return 1; }
                inline constexpr int v{1};
                class k { int a; public: void h(); };
                typedef int u;
                [[nodiscard]] constexpr std::vector<int> w(int (*callback)(int)) noexcept(true) { return {}; }
                """))

    def test_nothing_to_complain_about(self):
        self.assertEqual([], self.undocumented("""\
            /// A type.
            template <class T, class U = decltype(sizeof(T) > 1)>
            struct s {
                using value_type = T;
                s() = default;
                ~s() {}
                int x; ///< said behind
                friend bool operator==(s const&, s const&) = default;
                friend class other;
                /// Overloads.
                int f();
                int f() const;
              private:
                struct inner { int y; };
            };
            template <> struct s<int> {
                /// Even here.
                void g();
            };
            struct later;
            /// Numbers.
            enum class e { one, ///< 1
                           two  ///< 2
            };
            inline int s::f() { return 1; }
            template <class T> s(T) -> s<T>;
            static_assert(sizeof(int) == 4);
            using namespace std;
            namespace detail { struct free { int of; }; void comments(); }
            /// Above a remark.
            // The remark.
            inline constexpr char const* text = "struct no {};";
            """))

    def test_models_of_a_concept_of_the_room(self):
        self.header("core/model.hpp", """\
            namespace straggle {
            /// A rule.
            struct late {
                bool judge();
                int margin();
            };
            }
            """)
        self.assertEqual(["function margin"], self.undocumented("""\
            /// `judge()` says it.
            template <class T> concept rule = requires(T& t) { { t.judge() } -> same_as<bool>; };
            """))

    def test_a_comment_does_not_reach_over_a_line(self):
        self.assertEqual(["function f"], self.undocumented("/// Far away.\n\nvoid f();\n"))

    def test_a_plain_comment_is_none(self):
        self.assertEqual(["function f"], self.undocumented("// Says nothing to users.\nvoid f();\n"))

    def test_macros(self):
        self.assertEqual(["macro B"], self.undocumented("/// Said once.\n#define A 1\n#undef A\n#define A 2\n"
                                                        "#define B(x) x\n"))


class RuleTable(Library):
    def setUp(self):
        super().setUp()
        self.header("detect/late.hpp", """\
            namespace straggle {
            enum class scope { running, all };
            struct late {
                static constexpr std::string_view name = "late";
                double alpha = 1.0; ///< how far, in deviations
                scope over = scope::all;
            };
            template <class Base> struct lag {
                Base base{};
                std::size_t most = std::size_t{1} << 4;
                bool detect() const;
            };
            struct load_options {
                double burst = 10;
            };
            class load {
              public:
                static constexpr std::string_view name = "load";
                explicit load(std::size_t k, load_options options = {}) : k_(k) {}
                load(load const&) = default;
              private:
                int k_ = 7;
            };
            }
            """)

    def page(self, *rules, choice="| `scope` | `running`, `all` |"):
        self.write("docs/rules.md", "\n".join(["| rule | parameters | source |", "|---|---|---|", *rules, "",
                                              "| choice | names |", "|---|---|", choice, ""]))
        return [c.split(": ", 1)[1] for c in self.complaints(rule_table)]

    LATE, LAG, LOAD = "| **`late`** | `alpha = 1`, `over = all` (`x = 2`) |", "| `lag<B>` | `base`, `most = 2^4` |", \
        "| `load` | `k`, `burst = 10` |"

    def test_good(self):
        self.assertEqual([], self.page(self.LATE, self.LAG, self.LOAD))

    def test_wrong_default(self):
        self.assertEqual(["the default of late::alpha is 1.0, not 2"],
                         self.page(self.LATE.replace("= 1", "= 2"), self.LAG, self.LOAD))
        self.assertEqual(["the default of late::over is scope::all, not running"],
                         self.page(self.LATE.replace("= all", "= running"), self.LAG, self.LOAD))
        self.assertEqual(["the default of load::k is None, not 1"],
                         self.page(self.LATE, self.LAG, self.LOAD.replace("`k`", "`k = 1`")))
        self.assertEqual(["the default of lag::most is std::size_t{1} << 4, not None"],
                         self.page(self.LATE, self.LAG.replace(" = 2^4", ""), self.LOAD))

    def test_missing_and_unknown(self):
        self.assertEqual(["load is not there", "load_options is not there"], self.page(self.LATE, self.LAG))
        self.assertEqual(["load has burst, too", "load has no bursts"],
                         self.page(self.LATE, self.LAG, self.LOAD.replace("burst", "bursts")))
        self.assertEqual(["the library has no type `early`"],
                         self.page(self.LATE, self.LAG, self.LOAD, "| `early` | |"))
        self.assertEqual(["late is here a second time"], self.page(self.LATE, self.LATE, self.LAG, self.LOAD))

    def test_choices(self):
        self.assertEqual(["scope has all, too"], self.page(self.LATE, self.LAG, self.LOAD, choice="| `scope` | `running` |"))
        self.assertEqual(["scope is not there"], self.page(self.LATE, self.LAG, self.LOAD, choice=""))


class Linkage(Library):
    def check_code(self, code):
        self.header("core/a.hpp", "namespace straggle {\n" + code + "\n}\n")
        return self.complaints(linkage)

    def test_each(self):
        for code, word in (("constexpr int x = 1;", "variable x must be inline"),
                           ("static int f() { return 1; }", "f must not be static"),
                           ("namespace { int f(); }", "unnamed namespace")):
            with self.subTest(code):
                self.setUp()
                self.assertIn(word, "".join(self.check_code(code)))

    def test_good(self):
        self.assertEqual([], self.check_code("inline constexpr int x{1};\ntemplate <class T> constexpr int y = 1;\n"
                                             "constexpr int f(int a = 1) { static int b; return b; }\n"
                                             "struct s { static constexpr int z = 1; static void g(); };\n"
                                             "extern int w;"))


class Links(Library):
    def test_good(self):
        self.header("core/a.hpp")
        self.write("docs/b.md", "# The Heading: of `b`\n## Twice\n## Twice\n")
        self.write("README.md", "[b](docs/b.md#the-heading-of-b) [b](docs/b.md#twice-1) [me](#readme) [far](https://a.b/c)\n"
                                "# README\n`core/a.hpp` `a.hpp` `core/` `docs/b.md` `build/x.md` `<room>/x.hpp` `1/2` `x.y` `docs/1.2.3`\n"
                                "```sh\n[no](gone.md) # `core/gone.hpp`\n```\n`[no](gone.md)`\n")
        self.assertEqual([], self.complaints(links))

    def test_each(self):
        for text, word in (("[b](docs/b.md)", "docs/b.md: does not exist"), ("[b](#nowhere)", "no heading #nowhere"),
                           ("`core/gone.hpp`", "does not exist"), ("`core/gone`", "does not exist"),
                           ("`attic/gone.hpp`", "does not exist"), ("`gone.hpp`", "no file of that name")):
            with self.subTest(text):
                self.setUp()
                self.header("core/a.hpp")
                self.write("README.md", f"# A\n{text}\n")
                self.assert_one(links, "README.md:2", word)


class Reading(unittest.TestCase):
    def test_comments_and_literals_become_blanks(self):
        self.assertEqual("int a = 1'000;          \nf(\"   \", ' ');",
                         without_comments("int a = 1'000; // 'quote\nf(\"a//\", '\"');"))

    def test_lines_are_kept(self):
        found = declarations("/*\n*/ namespace straggle {\n#define X \\\n  {\nint a,\n b;\n}")
        self.assertEqual([("namespace", 2), ("variable", 5)], [(d.kind, d.line) for d in found])


if __name__ == "__main__":
    unittest.main()
