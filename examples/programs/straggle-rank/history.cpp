// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "history.hpp"

#include "../common/csv.hpp"
#include "../common/failure.hpp"
#include "../common/file_source.hpp"
#include "../common/number.hpp"
#include "../common/progress.hpp"
#include "../common/status.hpp"

#include <array>
#include <cmath>

namespace straggle_rank {

using namespace program;

namespace {

using straggle::attempt_status;

std::optional<std::uint32_t> read_name(straggle::interner<std::string>& names, std::string_view field) {
    if (field.empty()) return std::nullopt;
    return names.insert(field);
}

constexpr std::array<std::int64_t, max_places + 1> powers_of_ten = [] {
    std::array<std::int64_t, max_places + 1> powers{1};
    for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
    return powers;
}();

// digits * 10^places, if that fits.
std::optional<std::int64_t> scaled(std::int64_t digits, int places) {
    std::int64_t const factor = powers_of_ten[static_cast<std::size_t>(places)];
    if (digits > INT64_MAX / factor || digits < -(INT64_MAX / factor)) return std::nullopt;
    return digits * factor;
}

// The numbers of one row.
struct row_times {
    number start, end, duration;
    template <class Visit>
    void each(Visit&& visit) const {
        visit(start);
        visit(end);
        visit(duration);
    }
};

// Collects attempts as exact ticks of 10^-places as long as that is possible, then as floating point.
class attempt_list {
  public:
    void reserve(std::size_t n) {
        std::visit([n](auto& list) { list.reserve(n); }, list_);
    }

    // `rest` holds everything but the times.
    void add(row_times const& times, attempt<std::int64_t> const& rest) {
        if (auto* const ticks = std::get_if<tick_list>(&list_)) {
            if (fits(times, *ticks)) {
                ticks->push_back(with_times<std::int64_t>(rest, times, [this](number const& n) {
                    return n.digits * powers_of_ten[static_cast<std::size_t>(places_ - n.places)];
                }));
                return;
            }
            go_to_floating_point(*ticks);
        }
        std::get<real_list>(list_).push_back(with_times<double>(rest, times, [](number const& n) {
            return n.kind == number_kind::real
                       ? n.value
                       : static_cast<double>(n.digits) /
                             static_cast<double>(powers_of_ten[static_cast<std::size_t>(n.places)]);
        }));
    }

    [[nodiscard]] int places() const { return places_; }
    auto take() && { return std::move(list_); }

  private:
    using tick_list = std::vector<attempt<std::int64_t>>;
    using real_list = std::vector<attempt<double>>;

    // Makes the ticks as fine as a row needs; false if it cannot be done.
    bool fits(row_times const& times, tick_list& ticks) {
        int places = places_;
        times.each([&](number const& n) { places = n.places > places ? n.places : places; });
        bool possible = places == places_ || refine(ticks, places);
        times.each([&](number const& n) {
            possible = possible && n.kind != number_kind::real && scaled(n.digits, places_ - n.places);
        });
        return possible;
    }

    bool refine(tick_list& ticks, int places) {
        int const by = places - places_;
        auto const fits_still = [by](std::optional<std::int64_t> t) { return !t || scaled(*t, by); };
        for (auto const& a : ticks)
            if (!fits_still(a.start) || !fits_still(a.end) || !fits_still(a.duration)) return false;
        auto const refined = [by](std::optional<std::int64_t> t) { return t ? scaled(*t, by) : t; };
        for (auto& a : ticks) {
            a.start = refined(a.start);
            a.end = refined(a.end);
            a.duration = refined(a.duration);
        }
        places_ = places;
        return true;
    }

    void go_to_floating_point(tick_list const& ticks) {
        double const unit = static_cast<double>(powers_of_ten[static_cast<std::size_t>(places_)]);
        auto const real = [unit](std::optional<std::int64_t> t) {
            return t ? std::optional(static_cast<double>(*t) / unit) : std::nullopt;
        };
        real_list reals;
        reals.reserve(ticks.capacity());
        for (auto const& a : ticks)
            reals.push_back(
                {real(a.start), real(a.end), real(a.duration), a.job, a.node, a.task, a.input, a.status});
        list_ = std::move(reals);
    }

    template <class Time, class Convert>
    static attempt<Time> with_times(attempt<std::int64_t> const& rest, row_times const& times,
                                    Convert&& convert) {
        auto const known = [&](number const& n) {
            return n.kind == number_kind::missing ? std::nullopt : std::optional<Time>(convert(n));
        };
        return {known(times.start), known(times.end), known(times.duration), rest.job, rest.node, rest.task,
                rest.input,         rest.status};
    }

    std::variant<tick_list, real_list> list_;
    int places_ = 0;
};

class history_reader {
  public:
    history_reader(std::string const& file, reading_options const& options)
        : csv_(file_source(file)),
          columns_(options.columns, csv_.header(), name_of(file)),
          bytes_(size_of(file)),
          progress_(options.show_progress, bytes_),
          with_input_(options.with_input) {
        history_.file = name_of(file);
        history_.has_durations = columns_.has(column::duration);
        if (columns_.has(column::end)) history_.end_column = options.columns[column::end].name;
    }

    history read() && {
        while (csv_.next()) {
            ++history_.rows;
            progress_.update(csv_.bytes(), history_.rows);
            if (history_.rows == 1000) reserve();
            read_row(csv_.fields());
        }
        if (history_.rows == 0)
            throw failure(exit_status::bad_input, history_.file + ":1: a header and nothing else");
        history_.places = list_.places();
        history_.attempts = std::move(list_).take();
        return std::move(history_);
    }

  private:
    void read_row(std::span<std::string_view const> record) {
        row_times const times{number_in(record, column::start), number_in(record, column::end),
                              number_in(record, column::duration)};
        number const input = with_input_ ? number_in(record, column::input) : number{};
        number const slots = number_in(record, column::slots);
        attempt<std::int64_t> rest;
        rest.job = read_name(history_.jobs, columns_.field(record, column::job));
        rest.node = read_name(history_.nodes, columns_.field(record, column::node));
        if (rest.node) note_slots(*rest.node, slots);
        if (!is_usable({times.start, times.end, times.duration, input, slots})) return;
        rest.task = read_name(history_.tasks, columns_.field(record, column::task));
        if (columns_.has(column::status))
            rest.status = history_words::read_status(columns_.field(record, column::status));
        if (input.kind != number_kind::missing) rest.input = value_of(input);
        list_.add(times, rest);
    }

    number number_in(std::span<std::string_view const> record, column c) const {
        return columns_.has(c) ? read_number(columns_.field(record, c)) : number{};
    }

    bool is_usable(std::array<number, 5> const& numbers) {
        for (number_kind const fault : {number_kind::unreadable, number_kind::not_finite}) {
            for (number const& n : numbers) {
                if (n.kind != fault) continue;
                note(fault == number_kind::unreadable ? history_.unparsable_number : history_.not_finite);
                return false;
            }
        }
        return true;
    }

    void note(unreadable_rows& rows) const {
        ++rows.count;
        if (rows.lines.size() < 5) rows.lines.push_back(csv_.line());
    }

    static double value_of(number const& n) {
        if (n.kind == number_kind::real) return n.value;
        return static_cast<double>(n.digits) /
               static_cast<double>(powers_of_ten[static_cast<std::size_t>(n.places)]);
    }

    void note_slots(std::uint32_t node, number const& slots) {
        if (node >= history_.slots.size()) history_.slots.resize(node + 1, 0);
        if (slots.kind != number_kind::exact && slots.kind != number_kind::real) return;
        history_.slots[node] = (std::max)(history_.slots[node], value_of(slots));
    }

    // Once it is known how long rows are.
    void reserve() {
        double const rows = static_cast<double>(bytes_) / static_cast<double>(csv_.bytes()) * 1000;
        list_.reserve(static_cast<std::size_t>(rows * 1.02) + 1000);
    }

    csv::reader<file_source> csv_;
    column_places columns_;
    std::uint64_t bytes_;
    progress_bar progress_;
    bool with_input_;
    attempt_list list_;
    history history_;
};

} // namespace

history read_history(std::string const& file, reading_options const& options) {
    std::string const name = name_of(file);
    try {
        history h = history_reader(file, options).read();
        // A node the file gives no number of slots for has one.
        for (double& slots : h.slots)
            if (!(slots > 0)) slots = 1;
        return h;
    } catch (csv::error const& e) {
        throw failure(exit_status::bad_input, name + ":" + std::to_string(e.line()) + ": " + e.what());
    }
}

} // namespace straggle_rank
