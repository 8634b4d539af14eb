# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Reads the declarations of a header, as far as the tools and checks need them: no C++ parser, but enough of one for
the style of this library."""
import re
from dataclasses import dataclass

_COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | R"(?P<raw>[^()\\\s]{0,16})\(.*?\)(?P=raw)" |
        "(?:\\.|[^"\\\n])*" | \d(?:'?[\w.])* | [A-Za-z_]\w* | '(?:\\.|[^'\\\n])+' """,
    re.VERBOSE | re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<word>[A-Za-z_]\w*) | \.?\d(?:'?[\w.])* | "[^"]*" | '[^']*' |
        \[\[ | \]\] | :: | -> | <=> | <= | >= | == | != | && | \|\| | \+\+ | -- | \.\.\. | [^\s]""",
    re.VERBOSE)
_OPENING = {"(": ")", "[": "]", "{": "}", "[[": "]]"}
_TYPES = {"class", "struct", "union", "enum"}
# A parenthesis after one of these does not begin parameters.
_NOT_A_NAME = {"decltype", "alignas", "noexcept", "explicit", "requires", "sizeof", "void", "if", "auto"}


def without_comments(text, literals_too=True):
    """The code at its old place: comments (and the insides of literals) become blanks."""

    def blank(match):
        token = match.group()
        is_comment = token.startswith(("//", "/*"))
        is_literal = token[0] in "\"'" or token.startswith('R"')
        if not (is_comment or (is_literal and literals_too)):
            return token
        blanked = re.sub(r"[^\n]", " ", token)
        return blanked if is_comment or len(token) < 2 else token[0] + blanked[1:-1] + token[-1]

    return _COMMENT_OR_LITERAL.sub(blank, text)


@dataclass
class Declaration:
    kind: str  # namespace, type, enumerator, function, variable, alias, concept, other
    name: str
    line: int  # where it begins
    last_line: int  # where its head ends
    words: frozenset  # of the head
    scope: tuple  # enclosing names
    public: bool  # reachable for users: not private, not in detail, not in somebody else's namespace
    in_class: bool
    is_template: bool
    asked_for: frozenset  # of a concept: the members it wants, x for `t.x` and `T::x`
    exempt: bool  # needs no comment of its own: forward declarations, = default, specialisations, ...


class Reader:
    def __init__(self, text):
        code = without_comments(text)
        # Preprocessor lines, also continued ones, are not declarations.
        directive = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
        code = directive.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), code)
        # The tag of the inline namespace is in no name.
        code = re.sub(r"::inline STRAGGLE_ABI\b", lambda match: " " * len(match.group()), code)
        self.tokens, self.lines, line, end = [], [], 1, 0
        for match in _TOKEN.finditer(code):
            line += code.count("\n", end, match.start())
            end = match.start()
            self.tokens.append(match.group())
            self.lines.append(line)
        self.found = []

    def read(self):
        self.scope_body(0, len(self.tokens), (), public=True, in_class=False)
        return self.found

    def closing(self, i):
        """The index of the bracket that closes the one at i."""
        depth, opening, closing = 0, self.tokens[i], _OPENING[self.tokens[i]]
        for k in range(i, len(self.tokens)):
            if self.tokens[k] == opening:
                depth += 1
            elif self.tokens[k] == closing:
                depth -= 1
                if depth == 0:
                    return k
        raise SyntaxError(f"line {self.lines[i]}: {opening} is never closed")

    def after_template_header(self, i):
        """Past `template <...>`, as often as it stands there."""
        while self.tokens[i] == "template":
            depth, i = 0, i + 1
            while True:
                token = self.tokens[i]
                if token in _OPENING:
                    i = self.closing(i)
                elif token == "<":
                    depth += 1
                elif token == ">":
                    depth -= 1
                i += 1
                if depth == 0:
                    break
        return i

    def scope_body(self, i, end, scope, public, in_class):
        visible = public
        while i < end:
            token = self.tokens[i]
            if token in (";", "}"):
                i += 1
            elif token == "{":  # what is left of a body the reader did not see coming
                i = self.closing(i) + 1
            elif in_class and token in ("public", "private", "protected") and self.tokens[i + 1] == ":":
                visible = public and token != "private"
                i += 2
            elif token == "namespace" or (token == "inline" and self.tokens[i + 1] == "namespace"):
                i = self.namespace(i, scope, visible)
            else:
                i = self.declaration(i, end, scope, visible, in_class)

    def namespace(self, i, scope, public):
        names, start = [], i
        while self.tokens[i] not in ("{", ";"):
            if re.match(r"[A-Za-z_]", self.tokens[i]) and self.tokens[i] not in ("inline", "namespace"):
                names.append(self.tokens[i])
            i += 1
        if self.tokens[i] == ";":
            return i + 1
        close = self.closing(i)
        self.found.append(Declaration("namespace", "::".join(names), self.lines[start], self.lines[i], frozenset(),
                                      scope, False, False, False, frozenset(), True))
        ours = bool(scope or names[:1] == ["straggle"])
        for_users = public and ours and bool(names) and "detail" not in names
        self.scope_body(i + 1, close, (*scope, *names), for_users, False)
        return close + 1

    def head_end(self, i, end):
        """The index of the `;`, or of the `{` of the body, that ends the head of a declaration."""
        initialized = members = False  # past an `=`; among the member initializers of a constructor
        begin = i
        while i < end:
            token, before = self.tokens[i], self.tokens[i - 1]
            if token == ";":
                return i
            if token == "{":
                expression = before == "requires" or (before == ")" and self.requires_expression(i - 1, begin))
                member_brace = members and before not in (")", "}")
                if not (initialized or expression or member_brace):
                    return i
            if token == "=" and before != "operator" and self.tokens[i - 2] != "operator":  # nor in operator+=
                initialized = True
            if token == ":" and before == ")":
                members = True
            i = (self.closing(i) if token in _OPENING else i) + 1
        raise SyntaxError(f"line {self.lines[begin]}: this declaration never ends")

    def requires_expression(self, close, begin):
        """Whether the parenthesis that closes here holds the parameters of a requires-expression."""
        depth = 0
        for k in range(close, begin, -1):
            depth += {")": 1, "(": -1}.get(self.tokens[k], 0)
            if depth == 0:
                before = ("requires", "&&", "||", "=", "!", "(")
                return self.tokens[k - 1] == "requires" and self.tokens[k - 2] in before
        return False

    def declaration(self, start, end, scope, public, in_class):
        i = self.after_template_header(start)
        is_template = i != start
        stop = self.head_end(i, end)
        head = self.tokens[i:stop]
        # The name and what follows it; brackets that cannot hold it are left out.
        flat, k = [], i
        while k < stop:
            token = self.tokens[k]
            if token in _OPENING and (token != "(" or self.tokens[k - 1] in _NOT_A_NAME):
                k = self.closing(k)
            elif token == "(":
                flat.append("(")
                k = self.closing(k)
            else:
                flat.append(token)
            k += 1

        kind, name, exempt = self.classify(flat, head, stop, in_class)
        asked_for = {word for dot, word in zip(head, head[1:]) if kind == "concept" and dot in (".", "::")}
        self.found.append(Declaration(kind, name, self.lines[start], self.lines[stop], frozenset(head), scope, public,
                                      in_class, is_template, frozenset(asked_for), exempt))
        if self.tokens[stop] == ";":
            return stop + 1
        close = self.closing(stop)
        if kind == "type":
            if "enum" in flat:
                self.enumerators(stop, close, (*scope, name), public)
            else:
                opens_public = "class" not in flat[:flat.index(name)] if name in flat else True
                self.class_body(stop + 1, close, (*scope, name), public, opens_public)
        # `struct {...} x;` and `int x{1}, y{2};` end at the semicolon, a function at its brace.
        after = close + 1
        if kind in ("type", "variable"):
            while after < end and self.tokens[after] != ";":
                after = self.closing(after) + 1 if self.tokens[after] in _OPENING else after + 1
        return after

    def class_body(self, i, end, scope, public, opens_public):
        if opens_public:
            self.scope_body(i, end, scope, public, True)
            return
        # A class begins private: nothing before the first access specifier is for users.
        k = i
        while k < end and not (self.tokens[k] in ("public", "protected") and self.tokens[k + 1] == ":"):
            k = self.closing(k) + 1 if self.tokens[k] in _OPENING else k + 1
        self.scope_body(k, end, scope, public, True)

    def enumerators(self, opening, close, scope, public):
        k, fresh = opening + 1, True
        while k < close:
            if fresh:
                line = self.lines[k]
                self.found.append(Declaration("enumerator", self.tokens[k], line, line, frozenset(), scope, public,
                                              True, False, frozenset(), False))
                fresh = False
            if self.tokens[k] in _OPENING:
                k = self.closing(k)
            fresh = fresh or self.tokens[k] == ","
            k += 1

    def classify(self, flat, head, stop, in_class):
        first = flat[0] if flat else ""
        body = self.tokens[stop] == "{"
        if first in ("static_assert", "extern", "asm") or (first == "using" and flat[1] in ("namespace", "enum")):
            return "other", first, True
        if first == "using":
            named = "=" in flat
            return "alias", flat[1] if named else flat[-1], not named
        if "typedef" in flat[:2]:
            return "alias", flat[-1], False
        if first == "concept":
            return "concept", flat[1], False
        if "=" in flat and "operator" not in flat:
            before = flat[:flat.index("=")]
        else:
            before = flat
        parameters = before.index("(") if "(" in before else None
        keyword = next((t for t in before if t in _TYPES), None)
        friend = "friend" in before
        if keyword and parameters is None:
            at = before.index(keyword) + 1
            while at < len(before) and before[at] in ("class", "struct") or (
                    at < len(before) and before[at].startswith("STRAGGLE_")):
                at += 1
            name = before[at] if at < len(before) else ""
            specialised = at + 1 < len(before) and before[at + 1] == "<"
            return "type", name, friend or not body or specialised
        if parameters is not None:
            if "operator" in before:
                at = before.index("operator")
                call, subscript = before[at + 1:at + 3] == ["(", "("], before[at + 1] == "("
                name = "operator" + ("()" if call else "[]" if subscript else before[at + 1])
            else:
                at = parameters - 1
                name = before[at] if at >= 0 else ""
                if name == ">":  # a specialisation f<int>(
                    name = "specialisation"
            outside = at > 0 and before[at - 1] == "::"
            guide = "->" in before and at == 0 and not in_class
            ended = head[-2:] in (["=", "default"], ["=", "delete"])
            destructor = at > 0 and before[at - 1] == "~"
            return "function", name, outside or guide or ended or destructor or name == "specialisation"
        words = [t for t in before if re.match(r"[A-Za-z_]", t)]
        return "variable", words[-1] if words else "", friend


def declarations(text):
    return Reader(text).read()
