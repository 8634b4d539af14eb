// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `blacklist/dynamic_blacklist.hpp` and `mitigate/mitigator.hpp`: the user's nodes as plain
/// numbers, under stable indices.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/base/row_sort.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/blacklist/node_verdict.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/cluster_load.hpp>
#include <straggle/record/id_table.hpp>
#include <straggle/record/node.hpp>
#include <straggle/record/record_reader.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Node, class Fields>
class node_rows {
    using class_table = typename label_table<decltype(Fields::machine_class), Node>::type;
    using domain_table = typename label_table<decltype(Fields::domain), Node>::type;

  public:
    using node_id = owned_identifier_t<field_value_t<decltype(Fields::node), Node>>;

    // Only names persist: everything else is passed again each round.
    struct tables_type {
        explicit tables_type(std::size_t most)
            : ids(most), classes(make_table<class_table>(most)), domains(make_table<domain_table>(most)) {}
        id_table<node_id> ids;
        [[no_unique_address]] class_table classes;
        [[no_unique_address]] domain_table domains;
        void write(byte_writer& out) const {
            ids.write(out);
            write_table(out, classes);
            write_table(out, domains);
        }
        void read(byte_reader& in) {
            ids.read(in);
            read_table(in, classes);
            read_table(in, domains);
        }
    };

    node_rows(Fields fields, std::size_t most) : fields_(std::move(fields)), tables_(most) {}

    // Reads all nodes of a round.
    template <class Nodes>
    void read(Nodes&& nodes, double now) {
        rows_.clear();
        user_rows_.clear();
        total_ = 0;
        twice_ = no_room_ = 0;
        ++round_;
        bool are_numbered = false;
        for (Node const& node : nodes) {
            std::size_t const at = total_++;
            auto const& name = project(fields_.node, node);
            if (!is_present(name)) {
                ++twice_;
                continue;
            }
            std::uint32_t index = tables_.ids.see(unwrap(name), now);
            if constexpr (std::ranges::random_access_range<Nodes>) {
                if (index == no_index && !are_numbered) {
                    number_new(nodes, now);
                    are_numbered = true;
                    index = tables_.ids.find(unwrap(name));
                }
            } else if (index == no_index) {
                index = tables_.ids.insert(unwrap(name), now);
            }
            if (index == no_index) {
                ++no_room_;
                continue;
            }
            if (index >= stamps_.size()) stamps_.resize(index + 1, 0);
            if (stamps_[index] == round_) {
                ++twice_;
                continue;
            }
            blacklist::node_row row{.node = index};
            if constexpr (has_slots<Fields>) row.slots = read_count(project(fields_.slots, node), 1);
            if constexpr (has_busy<Fields>) row.busy = read_count(project(fields_.busy, node), 0);
            row.machine_class = read_label(tables_.classes, fields_.machine_class, node, now) + 1;
            row.domain = read_label(tables_.domains, fields_.domain, node, now) + 1;
            row.word = read_condition(fields_, node);
            rows_.push_back(row);
            user_rows_.push_back(at);
            stamps_[index] = round_;
        }
    }
    // Without a list of nodes, all remembered ones are present.
    void name_all(std::span<running_attempt const> running) {
        rows_.clear();
        busy_.assign(tables_.ids.bound(), 0);
        for (running_attempt const& r : running)
            if (r.node < busy_.size()) ++busy_[r.node];
        for (std::uint32_t i = 0; i < busy_.size(); ++i)
            if (tables_.ids.contains(i))
                rows_.push_back({.node = i, .slots = busy_[i] > 1 ? busy_[i] : 1, .busy = busy_[i]});
    }
    // If the records do not contain busy slots, count the running attempts.
    template <class Rows>
    void count_busy(Rows const& running) {
        if constexpr (!has_busy<Fields>) {
            busy_.assign(tables_.ids.bound(), 0);
            for (auto const& r : running)
                if (r.node < busy_.size()) ++busy_[r.node];
            for (auto& row : rows_) row.busy = busy_[row.node];
        }
    }
    // Fills in the slots of the cluster if the caller did not.
    void count_slots(cluster_load& load) const noexcept {
        for (auto const& n : rows_) {
            if (n.word == record::condition::away) continue;
            load.slots += n.slots;
            load.busy += n.busy < n.slots ? n.busy : n.slots;
        }
    }
    // Forgets nodes not seen since a point in time, neither here nor in attempts.
    template <class Forget>
    void forget_before(double time, Forget&& forget) {
        for (std::uint32_t i = 0; i < tables_.ids.bound(); ++i)
            if (tables_.ids.contains(i) && tables_.ids.last_seen(i) < time &&
                !(i < stamps_.size() && stamps_[i] == round_)) {
                forget(i);
                tables_.ids.erase(i);
            }
    }

    [[nodiscard]] std::span<blacklist::node_row const> rows() const noexcept { return span_of(rows_); }
    // For each of the `rows`, its index in the user's range.
    [[nodiscard]] std::span<std::size_t const> user_rows() const noexcept { return span_of(user_rows_); }
    [[nodiscard]] std::size_t total() const noexcept { return total_; }
    [[nodiscard]] std::uint64_t twice() const noexcept { return twice_; }
    [[nodiscard]] std::uint64_t no_room() const noexcept { return no_room_; }
    [[nodiscard]] id_table<node_id>& ids() noexcept { return tables_.ids; }
    [[nodiscard]] id_table<node_id> const& ids() const noexcept { return tables_.ids; }
    [[nodiscard]] Fields const& fields() const noexcept { return fields_; }

    void adopt(tables_type tables) {
        tables_ = std::move(tables);
        stamps_.clear();
    }
    void write(byte_writer& out) const { tables_.write(out); }

  protected:
    Fields fields_;
    tables_type tables_;
    std::vector<blacklist::node_row> rows_;
    std::vector<std::size_t> user_rows_;
    std::vector<std::uint32_t> busy_;

  private:
    using name_key = typename id_table<node_id>::key_type;

    // Ties between equal nodes go by number: the order of rows must not decide which node gets which.
    template <class Nodes>
    void number_new(Nodes& nodes, double now) {
        new_.clear();
        std::ranges::range_difference_t<Nodes> row = 0;
        for (Node const& node : nodes) {
            auto const at = row++;
            auto const& name = project(fields_.node, node);
            if (is_present(name) && tables_.ids.find(unwrap(name)) == no_index) new_.push_back(at);
        }
        auto const node_at = [&](std::ptrdiff_t at) -> Node const& { return std::ranges::begin(nodes)[at]; };
        sort_rows(new_, [&](std::ptrdiff_t i, std::ptrdiff_t j) {
            return is_named_before(unwrap(project(fields_.node, node_at(i))),
                                   unwrap(project(fields_.node, node_at(j))));
        });
        for (std::ptrdiff_t const at : new_)
            (void)tables_.ids.insert(unwrap(project(fields_.node, node_at(at))), now);
    }
    [[nodiscard]] static bool is_named_before(name_key const& a, name_key const& b) {
        if constexpr (std::totally_ordered<name_key>)
            return a < b;
        else
            return key_of(a, 0) < key_of(b, 0);
    }

    std::vector<std::ptrdiff_t> new_;   // rows
    std::vector<std::uint64_t> stamps_; // by index: the round in which it was last seen
    std::uint64_t round_ = 0, twice_ = 0, no_room_ = 0;
    std::size_t total_ = 0;
};

} // namespace straggle::detail
