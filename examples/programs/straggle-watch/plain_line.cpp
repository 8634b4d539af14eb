// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/digits.hpp"
#include "../common/member_names.hpp"
#include "../common/number.hpp"
#include "members.hpp"

#include <bit>
#include <cfloat>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace straggle_watch {

namespace {

program::member_names<member_count> const known_members(member_words);

using program::eight_characters;

// Behind the last of the characters that are nothing special in a text; `last` or more if all of them are
// not. Reads up to 15 bytes behind `last`.
char const* end_of_plain(char const* p, char const* last) {
#if defined(__SSE2__)
    __m128i const quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\'), blank = _mm_set1_epi8(' ');
    for (; p < last; p += 16) {
        __m128i const text = _mm_loadu_si128(reinterpret_cast<__m128i const*>(p));
        __m128i const special =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(text, quote), _mm_cmpeq_epi8(text, escape)),
                         _mm_cmplt_epi8(text, blank)); // what is not ASCII is below 0
        if (auto const found = static_cast<unsigned>(_mm_movemask_epi8(special)); found != 0)
            return p + std::countr_zero(found);
    }
#else
    while (p < last && *p >= ' ' && *p != '"' && *p != '\\' && static_cast<unsigned char>(*p) < 0x80) ++p;
#endif
    return p;
}

// Digits at the front of some text, in which something else follows.
struct digit_run {
    std::uint64_t number = 0; // what they say, modulo 2^64
    std::size_t size = 0;
};
inline digit_run digits_at(char const* p) {
    digit_run run;
    if constexpr (eight_characters::works_here) {
        for (std::size_t here = 8; here == 8; p += 8) {
            eight_characters const eight(p);
            here = eight.digits();
            if (here != 0) run.number = run.number * program::whole_powers_of_ten[here] + eight.first(here);
            run.size += here;
        }
    } else {
        for (; *p >= '0' && *p <= '9'; ++p, ++run.size)
            run.number = run.number * 10 + static_cast<unsigned char>(*p - '0');
    }
    return run;
}

} // namespace

// Goes through a line once. Whatever it does not know is false.
class plain_line {
  public:
    plain_line(std::string_view line, members& to)
        : at_(line.data()), end_(line.data() + line.size() - 1), to_(to) {}

    bool read() {
        // A bracket at the end stops everything but a text.
        if (end_ <= at_ || *end_ != '}' || *at_ != '{') return false;
        do {
            ++at_;
            skip_blanks();
            if (!read_member()) return false;
        } while (*at_ == ',');
        return at_ == end_;
    }

  private:
    using kind = members::kind;

    void skip_blanks() {
        while (*at_ == ' ' || *at_ == '\t') ++at_;
    }

    // The text whose opening quote is here.
    bool read_text(std::string_view& text) {
        char const* const first = at_ + 1;
        char const* const end = end_of_plain(first, end_);
        if (end >= end_ || *end != '"') return false;
        text = {first, static_cast<std::size_t>(end - first)};
        at_ = end + 1;
        return true;
    }

    bool read_member() {
        if (*at_ != '"') return false;
        std::size_t const m = known_members.index_of(at_ + 1);
        if (m != member_count)
            at_ += member_words[m].size() + 2;
        else if (std::string_view unknown; !read_text(unknown))
            return false;
        skip_blanks();
        if (*at_ != ':') return false;
        ++at_;
        skip_blanks();
        bool const is_wanted = m != member_count && (to_.present_ >> m & 1u) == 0;
        bool is_null = false;
        if (!read_value(is_wanted ? to_.values_[m] : unwanted_, is_null)) return false;
        skip_blanks();
        if (is_wanted && !is_null) to_.present_ |= std::uint64_t{1} << m;
        return true;
    }

    bool read_value(members::value& v, bool& is_null) {
        switch (*at_) {
        case '"':
            v.is = kind::text;
            return read_text(v.text);
        case 't':
            v.is = kind::yes;
            return take_word("true");
        case 'f':
            v.is = kind::no;
            return take_word("false");
        case 'n':
            is_null = true;
            return take_word("null");
        default:
            return read_number(v);
        }
    }
    bool take_word(std::string_view word) {
        if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }

    bool read_number(members::value& v) {
        constexpr std::size_t most_digits = 18; // which fit
        char const* const first = at_;
        bool const is_negative = *at_ == '-';
        if (is_negative) ++at_;
        bool const has_zero = *at_ == '0';
        digit_run const whole = digits_at(at_);
        at_ += whole.size;
        if (whole.size == 0 || whole.size > most_digits || (has_zero && whole.size > 1)) return false;
        if (*at_ == 'e' || *at_ == 'E') return false;
        if (*at_ != '.') {
            if (is_negative && has_zero) return false; // its name is 0
            v.is = kind::whole;
            v.text = {first, static_cast<std::size_t>(at_ - first)};
            v.number = static_cast<double>(static_cast<std::int64_t>(whole.number));
            if (is_negative) v.number = -v.number;
            return true;
        }
        ++at_;
        digit_run const places = digits_at(at_);
        at_ += places.size;
        if (places.size == 0 || whole.size + places.size > most_digits + 1) return false;
        if (*at_ == 'e' || *at_ == 'E') return false;
        v.is = kind::real;
        // Where both are exact, their quotient is rounded once, and right.
        std::uint64_t const scale = program::whole_powers_of_ten[places.size];
        std::uint64_t const digits = whole.number * scale + places.number;
        if (FLT_EVAL_METHOD == 0 && digits <= std::uint64_t{1} << 53) {
            v.number = static_cast<double>(static_cast<std::int64_t>(digits)) /
                       static_cast<double>(static_cast<std::int64_t>(scale));
            if (is_negative) v.number = -v.number;
            return true;
        }
        return program::detail::read_double({first, static_cast<std::size_t>(at_ - first)}, v.number);
    }

    char const* at_;
    char const* end_; // the closing bracket
    members& to_;
    members::value unwanted_;
};

bool members::read_plain(std::string_view line) {
    present_ = 0;
    fault_ = {};
    return !line.empty() && plain_line(line, *this).read();
}

} // namespace straggle_watch
