# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Proves that every hygiene check can fail, and that it fails for nothing else: each test writes a small library
with one thing wrong."""
import shutil
import sys
import tempfile
import textwrap
import unittest
import unittest.mock
from pathlib import Path

import doc_comments
import edges
import forbidden_words
import gone
import header_form
import headers
import linkage
import links
import mirror
import markdown
import names
import papers
import prose
from declarations import declarations, without_comments

sys.path.insert(0, str(headers.ROOT / "docs"))
import generate  # noqa: E402  (needs the path)
import results  # noqa: E402

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


class Edges(Library):
    """Three rooms: stats may include base, rank both."""

    def setUp(self):
        super().setUp()
        edges = {"base": (), "stats": ("base",), "rank": ("base", "stats")}
        patched = unittest.mock.patch.object(headers, "EDGES", edges)
        patched.start()
        self.addCleanup(patched.stop)
        self.header("base/config.hpp")
        self.header("base/outcome.hpp", "#include <straggle/base/config.hpp>\n#include <vector>\n")
        self.header("base.hpp", "#include <straggle/base/outcome.hpp>\n")
        self.header("stats/order.hpp", "#include <straggle/base/outcome.hpp>\n#include <straggle/stats/detail/tail.hpp>\n")
        self.header("stats/detail/tail.hpp")
        self.header("stats.hpp", "#include <straggle/stats/order.hpp>\n")
        self.header("straggle.hpp", "#include <straggle/base.hpp>\n#include <straggle/stats.hpp>\n")

    def test_good(self):
        self.assertEqual([], self.complaints(edges))

    def test_no_edge(self):
        self.header("base/finite.hpp", "#include <straggle/stats/order.hpp>\n")
        self.header("base.hpp", "#include <straggle/base/outcome.hpp>\n#include <straggle/base/finite.hpp>\n")
        found = self.complaints(edges)
        self.assertIn("base/finite.hpp:7: <straggle/stats/order.hpp>: base may not include stats", found[0])

    def test_edge_that_nobody_uses(self):
        self.header("stats/order.hpp", "#include <straggle/stats/detail/tail.hpp>\n")
        self.assert_one(edges, "stats -> base is an edge that no header uses")

    def test_private_header_of_another_room(self):
        self.header("rank/p_cores.hpp", "#include <straggle/base/outcome.hpp>\n#include <straggle/stats/detail/tail.hpp>\n")
        self.header("rank.hpp", "#include <straggle/rank/p_cores.hpp>\n")
        self.assert_one(edges, "rank/p_cores.hpp:8", "is private to stats")

    def test_faces(self):
        self.header("stats.hpp", "#include <straggle/stats/order.hpp>\n#include <straggle/base/outcome.hpp>\n")
        self.assert_one(edges, "stats.hpp:8", "the face of a room includes that room only")

    def test_no_face(self):
        (self.root / "include/straggle/stats.hpp").unlink()
        self.header("straggle.hpp", "#include <straggle/base.hpp>\n")
        self.assert_one(edges, "the room has no face")

    def test_face_included_by_a_header(self):
        self.header("stats/order.hpp", "#include <straggle/base.hpp>\n#include <straggle/base/outcome.hpp>\n"
                                       "#include <straggle/stats/detail/tail.hpp>\n")
        self.assert_one(edges, "stats/order.hpp:7", "not the face of a room")

    def test_umbrella(self):
        self.header("straggle.hpp", "#include <straggle/base/outcome.hpp>\n")
        self.assert_one(edges, "the umbrella includes the faces of rooms")
        self.header("straggle.hpp", "#include <straggle/learn.hpp>\n")
        self.header("learn.hpp")
        self.assert_one(edges, "is asked for by name")

    def test_foundation_includes_a_room(self):
        self.header("base/config.hpp", "#include <straggle/stats/order.hpp>\n")
        self.assertIn("cannot include a room", self.complaints(edges)[0])

    def test_circle_in_a_room(self):
        self.header("stats/detail/tail.hpp", "#include <straggle/stats/order.hpp>\n")
        self.assert_one(edges, "circle: straggle/stats/order.hpp -> straggle/stats/detail/tail.hpp -> "
                               "straggle/stats/order.hpp")

    def test_unknown_room_missing_file_umbrella_and_quotes(self):
        for code, word in (("<straggle/attic/a.hpp>", "no such room"), ("<straggle/base/gone.hpp>", "does not exist"),
                           ("<straggle/straggle.hpp>", "umbrella"), ('"b.hpp"', "write #include <straggle/")):
            with self.subTest(code):
                self.header("attic/a.hpp")
                self.header("stats/detail/tail.hpp", f"#include {code}\n")
                self.assertIn(word, self.complaints(edges)[0])

    def test_includes_in_comments_do_not_count(self):
        self.header("base/outcome.hpp", "// #include <straggle/stats/order.hpp>\n/* \n#include <straggle/x.hpp>\n*/\n")
        self.assertEqual([], self.complaints(edges))


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
                self.header("base/a.hpp", code + "\n")
                self.assertTrue(any(word in c for c in self.complaints(forbidden_words)))

    def test_what_is_allowed(self):
        self.header("base/config.hpp", "#define STRAGGLE_HAS_INT128 1\n")
        self.header("base/a.hpp", """\
            // may throw; try std::max(a, b)
            constexpr auto text = "throw std::min(a, b)";
            auto x = (std::max)(1'000'000, 2);
            auto y = (std::numeric_limits<double>::max)();
            auto entry = trying(rethrow);
            """)
        self.assertEqual([], self.complaints(forbidden_words))


class HeaderForm(Library):
    def test_good(self):
        self.header("base/a.hpp")
        self.assertEqual([], self.complaints(header_form))

    def test_no_license(self):
        self.header("base/a.hpp", top="/// @file\n/// Text.\n")
        self.assert_one(header_form, "license")

    def test_no_pragma_once(self):
        self.write("include/straggle/base/a.hpp", TOP)
        self.assert_one(header_form, "pragma once")

    def test_what_is_used_is_included(self):
        self.header("base/a.hpp", "inline void f(int* a, int n) { std::sort(a, a + n); } // std::move\n")
        self.assert_one(header_form, "<algorithm>")
        self.header("base/a.hpp", "#include <algorithm>\ninline int f(int a) { return (std::max)(a, std::exchange(a, 1)); }\n")
        self.assert_one(header_form, "<utility>")
        self.header("base/a.hpp", "#include <algorithm>\ninline void f(int* a, int n) { std::sort(a, a + n); }\n")
        self.assertEqual([], self.complaints(header_form))

    def test_too_long(self):
        self.header("base/a.hpp", "\n" * 700)
        self.assertEqual([], self.complaints(header_form))
        self.header("base/a.hpp", "\n" * 900)
        self.assert_one(header_form, "lines")

    def test_a_long_file_says_why(self):
        text = f"{TOP}/// Length: one table, in one place.\n#pragma once\n" + "\n" * 900
        self.write("include/straggle/base/a.hpp", text)
        self.assertEqual([], self.complaints(header_form))


class Names(Library):
    def some(self, count, namespace):
        code = "".join(f"struct name_{i} {{}};\n" for i in range(count))
        self.header("base/a.hpp", f"namespace {namespace} {{\n{code}}}\n")

    def test_as_many_as_there_may_be(self):
        self.some(names.MOST, "straggle::inline STRAGGLE_ABI")
        self.assertEqual([], self.complaints(names))

    def test_one_too_many(self):
        self.some(names.MOST + 1, "straggle::inline STRAGGLE_ABI")
        self.assert_one(names, "name_60", str(names.MOST + 1))

    def test_those_of_a_room_do_not_count(self):
        self.some(2 * names.MOST, "straggle::inline STRAGGLE_ABI::base")
        self.assertEqual([], self.complaints(names))


class Mirror(Library):
    def test_good(self):
        self.header("base/config.hpp")
        self.header("base/a.hpp", "#include <straggle/base/b.hpp>\n")
        self.header("base/b.hpp", top=TOP + "/// Private part\n/// of `a.hpp`.\n")
        self.write("tests/base/a.cpp")
        self.write("bench/base/a.cpp")
        self.assertEqual([], self.complaints(mirror))

    def test_untested_header(self):
        self.header("base/a.hpp")
        self.assert_one(mirror, "no tests/base/a.cpp")

    def test_private_part_with_public_names(self):
        self.header("base/a.hpp", "#include <straggle/base/b.hpp>\n")
        self.write("tests/base/a.cpp")
        self.header("base/b.hpp", "namespace straggle { void f(); }\n", top=TOP + "/// (private part of `a.hpp`)\n")
        self.assert_one(mirror, "names outside of detail")

    def test_private_part_that_is_not_used(self):
        self.header("base/b.hpp", "namespace straggle::detail { void f(); }\n", top=TOP + "/// Private part of A.\n")
        self.assert_one(mirror, "no header includes")

    def test_orphans(self):
        for folder in "tests", "bench":
            with self.subTest(folder):
                self.setUp()
                self.write(f"{folder}/base/a.cpp")
                self.assert_one(mirror, "there is no include/straggle/base/a.hpp")


class DocComments(Library):
    def test_a_table_whose_rows_were_broken(self):
        whole = "/// | a | b |\n/// |---|---|\n/// | 1 | 2 |\n///\n/// Text | with a bar.\n"
        self.assertEqual([], list(doc_comments.broken_tables(whole)))
        self.assertEqual([3, 4], list(doc_comments.broken_tables("/// | a | b |\n/// |---|---|\n/// | 1 | 2\n/// 3 |\n")))
        self.assertEqual([3], list(doc_comments.broken_tables("/// | a | b |\n/// |---|---|\n/// | 1 | 2 | 3 |\n")))

    def test_parameters_described_are_there(self):
        self.header("base/a.hpp", """\
            /// Both are there.
            /// @tparam T of them
            /// @param a first
            /// @param b, in order
            template <class T> void f(T a,
                                      T b);
            /// A member of it.
            struct s {
                /// One is not.
                /// @param a first
                /// @param gone second
                void g(int a) {
                    int gone = a;
                }
            };
            """)
        self.assert_one(doc_comments, "g", "parameter gone")

    def undocumented(self, code):
        self.header("base/a.hpp", "namespace straggle {\n" + textwrap.dedent(code) + "}\n")
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
        self.header("base/model.hpp", """\
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


class Generated(Library):
    def setUp(self):
        super().setUp()
        self.header("detect.hpp", "\n#include <straggle/detect/late.hpp>\n",
                    top=TOP.replace("What it is for.", "The room `detect/`: which task\n/// is late? Begin with `late`."))
        self.header("detect/late.hpp", """\
            namespace straggle::inline STRAGGLE_ABI::detect {
            /// What is averaged.
            enum class scope { running, all };
            /// Suspects what is late: a straggler.
            ///
            /// Source: M. Zaharia et al. 2008, section 4. And more.
            struct late {
                static constexpr std::string_view name = "late";
                double alpha = 1.0; ///< how far, in deviations
                scope over = scope::all;
            };
            /// Not said how.
            struct load_options {
                double burst = 10;
            };
            /// A load. Or not.
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

    RULES = "| rule | parameters | what it does | source |\n|---|---|---|---|\n" \
            "| `detect::late` | `alpha = 1`, `over = scope::all` | Suspects what is late | M. Zaharia et al. 2008, section 4 |\n" \
            "| `detect::load` | `k`, `burst = 10` | A load |  |\n"
    CHOICES = "| choice | names | what it is about |\n|---|---|---|\n| `detect::scope` | `running`, `all` | What is averaged |\n"
    ROOMS = "| room | question | begin with |\n|---|---|---|\n| `detect/` | which task is late? | `late` |\n"

    def page(self, rules=RULES, choices=CHOICES, rooms=ROOMS):
        self.write("docs/rules.md", f"# Rules\n<!-- rules begin detect -->\n{rules}<!-- rules end -->\n"
                                    f"<!-- choices begin -->\n{choices}<!-- choices end -->\n")
        self.write("README.md", f"<!-- rooms begin -->\n{rooms}<!-- rooms end -->\n")

    def complaints_of(self, **texts):
        with unittest.mock.patch.object(generate, "FACELESS", {}):
            self.page(**texts)
            return self.complaints(generate)

    def test_good(self):
        self.assertEqual([], self.complaints_of())

    def test_each_table(self):
        for texts in ({"rules": self.RULES.replace("= 1`", "= 2`")}, {"choices": ""},
                      {"rooms": self.ROOMS.replace("late?", "early?")}):
            with self.subTest(str(texts)):
                self.assertIn("is not what the headers say", self.complaints_of(**texts)[0])

    def test_speed(self):
        rows = [("sums", "loop", "2 us", "3.5"), ("ranks", "map", "1.5 ms", "0.8"), ("ranks", "two bare passes, a bound", "1.5 ms", "0.4"),
                ("odd", "tree", "7 ns", "0.6")]
        self.write("docs/reference/speed.md", "".join(f"| {' | '.join(row)} | 9 ms | 9 |\n" for row in rows))
        with unittest.mock.patch.object(generate, "KERNELS", (rows[0][:2],)):
            self.assertEqual("| kernel | rival | straggle | times faster |\n|---|---|---|---|\n| sums | loop | 2 us | 3.5 |\n"
                             "| odd | tree | 7 ns | 0.6 |\n", generate.speed_table(self.root))

    def test_face_without_a_header(self):
        self.header("detect/early.hpp")
        self.header("detect/detail/rates.hpp")
        self.assertIn("detect.hpp: does not include every header", self.complaints_of()[0])
        with unittest.mock.patch.object(generate, "FACELESS", {}):
            generate.check(self.root, update=True)
            self.assertEqual([], self.complaints(generate))
        self.assertTrue((self.root / "include/straggle/detect.hpp").read_text().endswith(
            "#pragma once\n\n#include <straggle/detect/early.hpp>\n#include <straggle/detect/late.hpp>\n"))

    def test_rule_in_no_table(self):
        self.header("learn/tree.hpp", "namespace straggle::learn {\n/// A tree.\nstruct tree_options { int k = 1; };\n}\n")
        self.assertEqual(1, len(found := self.complaints_of()), found)
        self.assertIn("learn::tree_options is a rule, but in no table", found[0])

    def test_update(self):
        with unittest.mock.patch.object(generate, "FACELESS", {}):
            self.page("", "", "")
            generate.check(self.root, update=True)
            self.assertEqual([], self.complaints(generate))
        self.assertIn(self.ROOMS, (self.root / "README.md").read_text())


class Markdown(Library):
    GOOD = "# A\n| a | b |\n|---|---:|\n| `1 \\| 2` | 2 |\n\n```sh\n| no table\n```\n<!-- | nor this\n| -->\n"

    def setUp(self):
        super().setUp()
        if not shutil.which("cmark-gfm"):
            self.skipTest("there is no cmark-gfm")

    def test_good(self):
        self.write("README.md", self.GOOD)
        self.assertEqual([], self.complaints(markdown))

    def test_each(self):
        for text, line, word in (("# A\n\n| a | b |\n|---|---|---:|\n| 1 | 2 |\n", 3, "a table that is none"),
                                 ("# A\n\n| a | b |\n| 1 | 2 |\n", 3, "a table that is none"),
                                 ("# A\n```sh\nls\n", 1, "stays open"),
                                 ("# A\n\nA vector<int> of\n", 1, "looks like HTML")):
            with self.subTest(text):
                self.write("README.md", text)
                self.assert_one(markdown, f"README.md:{line}", word)


class Gone(Library):
    def setUp(self):
        super().setUp()
        patched = unittest.mock.patch.object(gone, "gone", lambda: {"storm_guard": "suspect_share_limit"})
        patched.start()
        self.addCleanup(patched.stop)

    def test_good(self):
        self.write("README.md", "A storm_guard of old, and `a_storm_guard_too`.\n")
        self.header("base/a.hpp", "int storm_guards;\n")
        self.assertEqual([], self.complaints(gone))

    def test_each(self):
        for path, text in (("README.md", "# A\n`x<storm_guard>`\n"), ("docs/a.md", "# A\n```cpp\n\nstorm_guard g;\n```\n"),
                           ("include/straggle/a.hpp", "\nstorm_guard g;\n"), ("tests/a/a.cpp", "\n// storm_guard\n")):
            with self.subTest(path):
                self.setUp()
                self.write(path, text)
                self.assert_one(gone, f"{path}:", "storm_guard is gone: suspect_share_limit")


class Linkage(Library):
    def check_code(self, code):
        self.header("base/a.hpp", "namespace straggle {\n" + code + "\n}\n")
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
        self.header("base/a.hpp")
        self.write("docs/b.md", "# The Heading: of `b`\n## Twice\n## Twice\n")
        self.write("README.md", "[b](docs/b.md#the-heading-of-b) [b](docs/b.md#twice-1) [me](#readme) [far](https://a.b/c)\n"
                                "# README\n`base/a.hpp` `a.hpp` `base/` `docs/b.md` `build/x.md` `<room>/x.hpp` `1/2` `x.y` `docs/1.2.3`\n"
                                "```sh\n[no](gone.md) # `base/gone.hpp`\n```\n`[no](gone.md)`\n")
        self.assertEqual([], self.complaints(links))

    def test_each(self):
        for text, word in (("[b](docs/b.md)", "docs/b.md: does not exist"), ("[b](#nowhere)", "no heading #nowhere"),
                           ("`base/gone.hpp`", "does not exist"), ("`base/gone`", "does not exist"),
                           ("`attic/gone.hpp`", "does not exist"), ("`gone.hpp`", "no file of that name")):
            with self.subTest(text):
                self.setUp()
                self.header("base/a.hpp")
                self.write("README.md", f"# A\n{text}\n")
                self.assert_one(links, "README.md:2", word)

    def test_page_in_a_comment(self):
        self.write("docs/b.md", "# B\n")
        self.header("base/a.hpp", "// docs/b.md\n")
        self.assertEqual([], self.complaints(links))
        self.header("base/a.hpp", "// docs/gone.md\n")
        self.assert_one(links, "docs/gone.md: does not exist")


class Papers(Library):
    TOP = "## P\n\n| in the paper | header | test | experiment |\n|---|---|---|---|\n"

    def setUp(self):
        super().setUp()
        patched = unittest.mock.patch.object(papers, "PAPERS", {"P": ({"equation": 2, "figure": 3}, "p")})
        patched.start()
        self.addCleanup(patched.stop)
        self.header("papers/p.hpp", "struct rule {};\n")
        self.write("tests/papers/p.cpp")
        self.write("bench/papers/p.cpp")
        self.write("docs/notes/results/table.csv")

    def page(self, *rows):
        self.write("docs/notes/papers.md", self.TOP + "".join(f"| {r}\n" for r in rows))

    def test_good(self):
        self.page("equations 1-2 | `rule`; `papers/p.hpp` | `tests/papers/p.cpp` | `paper_p`, `table` |",
                  "figure 1; figures 2 and 3(b) | | | an architecture |")
        self.assertEqual([], self.complaints(papers))

    def test_each(self):
        first = "equations 1 to 2 | | | why |"
        for row, word in (("figures 1 and 3 | | | why |", "no row for figure 2"), ("figures 1-4 | | | why |", "no figure 4"),
                          ("figures 1-3 | | | |", "no reason"), ("figures 1-3 | `gone.hpp` | | |", "no header gone.hpp"),
                          ("figures 1-3 | | `tests/gone.cpp` | |", "no test"), ("figures 1-3 | | | `paper_gone` |", "no experiment")):
            with self.subTest(row):
                self.page(first, row)
                self.assert_one(papers, word)


class Prose(Library):
    def test_good(self):
        self.header("base/a.hpp", 'constexpr int told = 1; // for every task\n')
        self.write("README.md", "# A\nA `told` of names.\n```cpp\nint told;\n```\n")
        self.assertEqual([], self.complaints(prose))

    def test_each(self):
        for word in ("told", "nobody", "for ever", "behaviours", "Normalised", "beyond doubt"):
            with self.subTest(word):
                self.header("base/a.hpp")
                self.write("docs/guide/a.md", f"# A\n\nIt is {word}.\n")
                self.assert_one(prose, "docs/guide/a.md:3", word)
                self.write("docs/guide/a.md")
                self.header("base/a.hpp", f"int x; // {word}\n")
                self.assert_one(prose, "base/a.hpp", word)

    def test_scripts(self):
        self.header("base/a.hpp")
        for text in ("x = 1  # what is told\n", 'def f():\n    """It is\n    told."""\n'):
            with self.subTest(text):
                self.write("examples/a.py", text)
                self.assert_one(prose, "examples/a.py", "told")
        self.write("examples/a.py", "told = 1\n")
        self.assertEqual([], self.complaints(prose))
        self.write("bench/a.sh", "# told\necho told\n")
        self.assert_one(prose, "bench/a.sh:1", "told")


class Results(Library):
    def written(self, text):
        self.write("results/t.csv", "group,series,x,median,low,high,runs,paper\ng,s,x,0.5,0.25,0.75,6,\n")
        complaints = []
        return results.written(text, results.tables.Results(self.root / "results"), complaints), complaints

    def test_number(self):
        self.assertEqual(("<!-- n t | g | s | x | percent (range) -->50 % (25 to 75)<!-- /n -->", []),
                         self.written("<!-- n t | g | s | x | percent (range) -->1 %<!-- /n -->"))

    def test_what_is_not_there(self):
        for text in ("<!-- n t | g | s | y | percent -->1<!-- /n -->", "<!-- n t | g | s | x | odd -->1<!-- /n -->",
                     "<!-- results begin nothing -->\n<!-- results end -->"):
            with self.subTest(text):
                self.assertEqual((text, 1), (lambda found: (found[0], len(found[1])))(self.written(text)))

    def test_by_hand(self):
        link = "[experiments](../notes/experiments.md)"
        self.assertEqual(1, len(list(results.by_hand(f"As {link} say.\nJobs are 5 % shorter."))))
        self.assertEqual(0, len(list(results.by_hand(f"As {link} say. The paper has 5 %.\n\nJobs are 5 % shorter."))))

    def test_a_percentile_is_no_share(self):
        self.assertTrue(any(p.search("99 % of jobs end sooner") for p, _ in results.FORBIDDEN))


class Reading(unittest.TestCase):
    def test_comments_and_literals_become_blanks(self):
        self.assertEqual("int a = 1'000;          \nf(\"   \", ' ');",
                         without_comments("int a = 1'000; // 'quote\nf(\"a//\", '\"');"))

    def test_lines_are_kept(self):
        found = declarations("/*\n*/ namespace straggle {\n#define X \\\n  {\nint a,\n b;\n}")
        self.assertEqual([("namespace", 2), ("variable", 5)], [(d.kind, d.line) for d in found])

    def test_a_sign_in_the_name_of_an_operator_initialises_nothing(self):
        found = declarations("struct s { s& operator+=(s) { return *this; } void f(); private: int x; };")
        self.assertEqual([("s", True), ("operator+", True), ("f", True), ("x", False)],
                         [(d.name, d.public) for d in found])


if __name__ == "__main__":
    unittest.main()
