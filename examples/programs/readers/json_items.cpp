// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "json_items.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace readers {

namespace {

std::size_t find_from(std::string_view text, std::string_view what, std::size_t from) {
    if (from >= text.size()) return std::string_view::npos;
    void const* const found = memmem(text.data() + from, text.size() - from, what.data(), what.size());
    if (found == nullptr) return std::string_view::npos;
    return static_cast<std::size_t>(static_cast<char const*>(found) - text.data());
}

// Finds `what`: looks for its first and last byte at the right distance, and compares the rest only there.
std::size_t find_spaced(std::string_view text, std::string_view what, std::size_t from) {
#if defined(__SSE2__)
    std::size_t const gap = what.size() - 1;
    __m128i const first = _mm_set1_epi8(what.front()), last = _mm_set1_epi8(what.back());
    for (; from + gap + 16 <= text.size(); from += 16) {
        auto const at = [&](std::size_t i) {
            return _mm_loadu_si128(reinterpret_cast<__m128i const*>(text.data() + i));
        };
        auto hits = static_cast<unsigned>(_mm_movemask_epi8(
            _mm_and_si128(_mm_cmpeq_epi8(at(from), first), _mm_cmpeq_epi8(at(from + gap), last))));
        for (; hits != 0; hits &= hits - 1) {
            std::size_t const place = from + static_cast<std::size_t>(std::countr_zero(hits));
            if (text.substr(place, what.size()) == what) return place;
        }
    }
#endif
    return find_from(text, what, from);
}

bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

#if defined(__SSE2__)
constexpr std::size_t lane_block = 64;

// One bit for each of 64 bytes: which of them are what.
struct byte_masks {
    std::uint64_t quotes = 0, backslashes = 0, open = 0, close = 0, line_ends = 0;
};

byte_masks masks_of(char const* from) {
    byte_masks m;
    auto const equal = [](__m128i bytes, char c) {
        return static_cast<std::uint64_t>(
            static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)))));
    };
    for (unsigned i = 0; i < 4; ++i) {
        __m128i const bytes = _mm_loadu_si128(reinterpret_cast<__m128i const*>(from + std::size_t{16} * i));
        __m128i const curly = _mm_or_si128(bytes, _mm_set1_epi8(0x20)); // [ becomes {, ] becomes }
        m.quotes |= equal(bytes, '"') << (16 * i);
        m.backslashes |= equal(bytes, '\\') << (16 * i);
        m.line_ends |= equal(bytes, '\n') << (16 * i);
        m.open |= equal(curly, '{') << (16 * i);
        m.close |= equal(curly, '}') << (16 * i);
    }
    return m;
}

// Bit i is the xor of bits 0 to i: set from a quote up to the one that closes it.
std::uint64_t prefix_xor(std::uint64_t bits) {
    for (unsigned by = 1; by < 64; by *= 2) bits ^= bits << by;
    return bits;
}
#endif

} // namespace

std::size_t line_ends_in(std::string_view text) {
    std::size_t count = 0;
#if defined(__SSE2__)
    __m128i const wanted = _mm_set1_epi8('\n'), zero = _mm_setzero_si128();
    while (text.size() >= 16) {
        // A byte each counts up to 255.
        std::size_t const blocks = (std::min)(text.size() / 16, std::size_t{255});
        __m128i counts = zero;
        for (std::size_t i = 0; i < blocks; ++i)
            counts = _mm_sub_epi8(
                counts, _mm_cmpeq_epi8(
                            _mm_loadu_si128(reinterpret_cast<__m128i const*>(text.data() + 16 * i)), wanted));
        __m128i const sums = _mm_sad_epu8(counts, zero);
        count += static_cast<std::size_t>(_mm_cvtsi128_si32(sums)) +
                 static_cast<std::size_t>(_mm_cvtsi128_si32(_mm_srli_si128(sums, 8)));
        text.remove_prefix(16 * blocks);
    }
#endif
    return count + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::size_t brace_scan::step(std::string_view text, std::size_t until) {
    for (; at_ < until; ++at_) {
        char const c = text[at_];
        if (c == '\n') { // strings do not span lines: if one seems to, a quote is missing
            in_string_ = escaped_ = false;
        } else if (escaped_) {
            escaped_ = false;
        } else if (in_string_) {
            escaped_ = c == '\\';
            in_string_ = c != '"';
        } else if (c == '"') {
            in_string_ = true;
        } else if (c == '{' || c == '[') {
            ++depth_;
        } else if (c == '}' || c == ']') {
            if (--depth_ <= 0) return ++at_;
        }
    }
    return 0;
}

std::size_t brace_scan::find_end(std::string_view text) {
#if defined(__SSE2__)
    while (at_ + lane_block <= text.size()) {
        byte_masks const m = masks_of(text.data() + at_);
        std::uint64_t const strings = prefix_xor(m.quotes) ^ (in_string_ ? ~std::uint64_t{0} : 0);
        std::uint64_t const open = m.open & ~strings, close = m.close & ~strings;
        bool const plain = m.backslashes == 0 && !escaped_ && (m.line_ends & strings) == 0;
        if (!plain || depth_ <= std::popcount(close)) {
            if (std::size_t const end = step(text, at_ + lane_block)) return end;
            continue;
        }
        depth_ += std::popcount(open) - std::popcount(close);
        in_string_ = (strings >> 63U) != 0;
        at_ += lane_block;
    }
#endif
    return step(text, text.size());
}

bool json_items::enter(std::string_view key) {
    std::string const quoted = '"' + std::string(key) + '"';
    text_.consume(used_);
    used_ = 0;
    in_array_ = done_ = at_line_start_ = false;
    indent_.clear();
    for (;;) {
        std::size_t const found = find_from(text_.view(), quoted, 0);
        if (found == std::string_view::npos) {
            std::size_t const size = text_.view().size();
            text_.consume(size > quoted.size() ? size - quoted.size() : 0);
            if (!text_.more()) return false;
            continue;
        }
        text_.consume(found + quoted.size());
        bool colon = false;
        for (;;) {
            if (text_.view().empty() && !text_.more()) return false;
            char const c = text_.view().front();
            if (c == '[' && colon) {
                text_.consume(1);
                in_array_ = true;
                return true;
            }
            if (!is_space(c) && !(c == ':' && !colon)) break;
            colon = colon || c == ':';
            text_.consume(1);
        }
    }
}

// Consumes the text between objects.
bool json_items::find_start() {
    garbage_line_ = 0;
    for (;;) {
        std::string_view const rest = text_.view();
        std::size_t at = 0, lines = 0;
        while (at < rest.size() && rest[at] != '{') {
            char const c = rest[at];
            if (c == '\n') {
                ++lines;
                indent_.clear();
                at_line_start_ = true;
            } else if (c == ' ' || c == '\t') {
                if (at_line_start_ && indent_.size() < 64) indent_ += c;
            } else if (c != '\r') {
                if (c == ']' && in_array_) {
                    done_ = true;
                    return false;
                }
                at_line_start_ = false;
                if (garbage_line_ == 0 && c != ',' && c != '[' && c != ']')
                    garbage_line_ = text_.line() + lines;
            }
            ++at;
        }
        text_.consume(at, lines);
        if (!text_.view().empty()) return true;
        if (!text_.more()) return false;
    }
}

bool json_items::find_end_by_indent() {
    std::string const last_line = '\n' + indent_ + '}';
    std::size_t looked = 0;
    for (;;) {
        std::size_t const found = find_spaced(text_.view(), last_line, looked);
        if (found != std::string_view::npos) {
            used_ = found + last_line.size();
            return true;
        }
        std::size_t const size = text_.view().size();
        looked = size > last_line.size() ? size - last_line.size() : 0;
        if (size > longest || !text_.more()) return false;
    }
}

// An object that begins a line ends before the next line that begins one: otherwise a brace is missing.
bool json_items::find_end_by_braces() {
    std::string const next_start = '\n' + indent_ + '{';
    brace_scan scan;
    std::size_t looked = 0;
    for (;;) {
        std::string_view const rest = text_.view();
        std::size_t const limit =
            at_line_start_ ? find_spaced(rest, next_start, looked) : std::string_view::npos;
        if (std::size_t const end = scan.find_end(rest.substr(0, limit))) {
            used_ = end;
            return true;
        }
        if (limit != std::string_view::npos) {
            used_ = limit;
            return true;
        }
        looked = rest.size() > next_start.size() ? rest.size() - next_start.size() : 0;
        if (rest.size() > longest || !text_.more()) return false;
    }
}

bool json_items::next() {
    if (used_ > 0) {
        text_.consume(used_);
        at_line_start_ = false;
        used_ = 0;
    }
    if (done_) {
        garbage_line_ = 0;
        return false;
    }
    if (text_.line() == 1 && text_.consumed() == 0) at_line_start_ = true;
    if (!find_start()) return false;
    std::string_view const head = text_.head(3);
    pretty_ = at_line_start_ && (head.substr(1, 1) == "\n" || head.substr(1, 2) == "\r\n");
    torn_ = !(pretty_ ? find_end_by_indent() : find_end_by_braces());
    if (torn_) used_ = text_.view().size();
    return true;
}

// The end can only belong to the last start within it.
void json_items::give_up() {
    if (!pretty_ || torn_) return;
    std::size_t const found = item().rfind('\n' + indent_ + '{');
    if (found == std::string_view::npos) return;
    text_.consume(found);
    used_ = 0;
}

} // namespace readers
