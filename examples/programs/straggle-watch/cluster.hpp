// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What was reported about the cluster: the running attempts and the nodes, dense and by name.
#pragma once

#include "records.hpp"

#include <straggle/base/bytes.hpp>
#include <straggle/base/interner.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace straggle_watch {

/// Ordered by text: no choice of names makes it slow, and stored data depend on no hash.
template <class Value>
using text_map = std::map<std::string, Value, std::less<>>;

/// The names that identify an attempt.
struct attempt_names {
    std::string_view job;
    std::optional<std::string_view> task, attempt;
    std::string_view node;
    std::optional<double> start;
};

/// Running attempts, and nodes.
///
/// @par Guarantees memory is bounded by the two numbers, and what has ended leaves its memory to what begins;
/// rows stay in place, except that removals move the last row into the gap: the same events give the same
/// rows. Attempts are distinguished by their names
class cluster {
  public:
    cluster(std::size_t most_nodes, std::size_t most_running)
        : most_nodes_(most_nodes), most_running_(most_running) {}
    cluster(cluster const&) = delete;
    cluster& operator=(cluster const&) = delete;

    /// By row.
    [[nodiscard]] auto running() const {
        return order_ | std::views::transform(
                            [this](std::uint32_t n) -> running_attempt const& { return running_[n]; });
    }
    // One of these, as a plan numbers them.
    [[nodiscard]] running_attempt const& running(std::size_t row) const { return running_[order_[row]]; }
    [[nodiscard]] std::vector<told_node> const& nodes() const { return nodes_; }

    /// The attempt with these names, or null.
    [[nodiscard]] running_attempt* find(attempt_names const& names);
    /// Its record, created if there is none; null if there is no room. The caller must replace its contents,
    /// except for the names.
    running_attempt* add(attempt_names const& names);
    void remove(running_attempt const& row);

    [[nodiscard]] told_node* find_node(std::string_view name);
    told_node* add_node(std::string_view name);
    /// Forgets a node and what runs there. @return whether it existed
    bool remove_node(std::string_view name);

    /// Begins a complete list, with its first part; everything added from then on belongs to it.
    void begin_running_list() {
        if (!in_running_list_) ++running_round_;
        in_running_list_ = true;
    }
    void begin_node_list() {
        if (!in_node_list_) ++node_round_;
        in_node_list_ = true;
    }
    /// The list is complete: forgets all others.
    void end_running_list();
    void end_node_list();

    void write(straggle::byte_writer& out) const;
    /// False if the data are invalid; then it is empty.
    bool read(straggle::byte_reader& in);

  private:
    [[nodiscard]] std::string_view identity(attempt_names const& names);
    place& at(std::string_view node);
    void leave(place const& here);
    [[nodiscard]] place* find_place(std::string_view node);
    void remove_row(std::size_t row) { remove(running_[order_[row]]); }

    std::size_t most_nodes_, most_running_;
    straggle::interner<std::string> identities_; // the names that identify attempts, as one text
    std::string key_;                            // of the one being looked up
    std::vector<running_attempt> running_;       // by number of the identity
    std::vector<std::uint32_t> rows_;            // the same
    std::vector<std::uint32_t> order_;           // numbers by row
    std::vector<told_node> nodes_;
    straggle::interner<std::string> node_names_;
    std::deque<place> places_; // by number of the name: addresses stay
    std::uint64_t running_round_ = 0, node_round_ = 0;
    bool in_running_list_ = false, in_node_list_ = false;
};

} // namespace straggle_watch
