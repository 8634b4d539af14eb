// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The library asks of the user's types what its concepts say and nothing else: everything is instantiated
// with types that can do no more. Nothing is run.
#include "../support/archetypes.hpp"

#include <straggle/rank/normalize.hpp>
#include <straggle/rank/sibling_normalizers.hpp>

#include <cstdint>
#include <iterator>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

namespace straggle_test {

using namespace straggle;

// Cannot be made, copied or moved; is only read.
struct minimal_record {
    minimal_record() = delete;
    minimal_record(minimal_record const&) = delete;
    minimal_record& operator=(minimal_record const&) = delete;
    minimal_optional<minimal_id> job() const;
    minimal_id const& node() const;
    minimal_duration took() const;
    minimal_time start() const;
    minimal_optional<minimal_time> end() const;
    minimal_optional<attempt_status> status() const;
    minimal_text task() const;
    minimal_optional<float> input() const;
};

// Read once, forward, and not even its begin is const.
template <class Record>
struct minimal_range {
    struct iterator {
        using value_type = Record;
        using difference_type = std::ptrdiff_t;
        iterator(iterator&&) = default;
        iterator& operator=(iterator&&) = default;
        Record const& operator*() const;
        iterator& operator++();
        void operator++(int);
        bool operator==(std::default_sentinel_t) const;
    };
    iterator begin() const;
    std::default_sentinel_t end() const;
};
static_assert(std::ranges::input_range<minimal_range<minimal_record>> &&
              !std::ranges::forward_range<minimal_range<minimal_record>>);

constexpr attempt_fields by_duration{
    .job = &minimal_record::job, .node = &minimal_record::node, .duration = &minimal_record::took};
constexpr attempt_fields by_times{.job = &minimal_record::job,
                                  .node = &minimal_record::node,
                                  .start = &minimal_record::start,
                                  .end = &minimal_record::end};
constexpr attempt_fields all_fields{.job = &minimal_record::job,
                                    .task = &minimal_record::task,
                                    .node = &minimal_record::node,
                                    .start = &minimal_record::start,
                                    .end = &minimal_record::end,
                                    .status = &minimal_record::status,
                                    .input = &minimal_record::input};

template <class Normalizer>
constexpr auto minimal_options() {
    return rank_options<Normalizer, minimal_estimator, minimal_ranker>{};
}

template <class Range, class Fields>
void everything(Range const& records, Fields const& fields) {
    auto ranking = rank_nodes(records, fields);
    (void)rank_nodes(records, fields, minimal_options<minimal_moment_normalizer>());
    (void)rank_nodes(records, fields, minimal_options<minimal_sibling_normalizer>());
    (void)rank_nodes(records, fields, minimal_options<minimal_input_normalizer<minimal_moment_normalizer>>());
    (void)rank_nodes(records, fields,
                     minimal_options<minimal_input_normalizer<minimal_sibling_normalizer>>());
    (void)rank::normalize(records, fields);
    (void)rank::normalize(records, fields, minimal_options<minimal_sibling_normalizer>());
    (void)blacklister{}.decide(ranking);
    (void)blacklister{minimal_selection{}, minimal_guard{}, record::unlimited{}}.decide(ranking);
    (void)blacklister{blacklist::weakest_level{}, blacklist::at_most{1}, blacklist::at_most_slot_fraction{},
                      blacklist::fail_open{}}
        .decide(ranking);
}

// Never called: to be compiled is enough.
void with_archetypes(minimal_range<minimal_record> const& records) {
    everything(records, by_duration);
    everything(records, by_times);
    everything(records, all_fields);
}

// A record that is a plain number, or a pointer to the real one; a range that is a view.
void with_odd_records(std::vector<int> const& numbers, std::vector<minimal_record const*> const& pointers) {
    auto const self = attempt_fields{.job = [](int x) { return x % 10; },
                                     .node = [](int x) { return x % 7; },
                                     .duration = [](int x) { return x; }};
    everything(numbers, self);
    everything(std::views::iota(0, 100), self);
    everything(pointers, attempt_fields{.job = [](minimal_record const* r) { return r->job(); },
                                        .node = [](minimal_record const* r) { return r->node(); },
                                        .duration = [](minimal_record const* r) { return r->took(); }});
}

} // namespace straggle_test
