// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What was told of the cluster: the attempts that run and the nodes, dense and by name.
#pragma once

#include "records.hpp"

#include <straggle/base/bytes.hpp>
#include <straggle/base/interner.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace straggle_watch {

/// A hash of text, eight bytes at a time; the same in every process.
[[nodiscard]] inline std::uint64_t hash_of(std::string_view s, std::uint64_t seed = 0) noexcept {
    std::uint64_t h = seed ^ (s.size() * 0x9E3779B97F4A7C15u);
    auto const take = [&h](std::uint64_t word) {
        h = (h ^ word) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    };
    while (s.size() >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, s.data(), 8);
        take(word);
        s.remove_prefix(8);
    }
    std::uint64_t rest = 0; // no two of the same length have the same
    if (s.size() >= 4) {
        std::uint32_t low = 0, high = 0;
        std::memcpy(&low, s.data(), 4);
        std::memcpy(&high, s.data() + s.size() - 4, 4);
        rest = std::uint64_t{high} << 32 | low;
    } else if (!s.empty()) {
        auto const byte = [s](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(s[i])}; };
        rest = byte(0) | byte(s.size() / 2) << 8 | byte(s.size() - 1) << 16;
    }
    take(rest);
    h *= 0xA0761D6478BD642Fu;
    return h ^ h >> 29;
}

/// Lets maps of strings be asked for views.
struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const noexcept { return hash_of(s) & SIZE_MAX; }
};
template <class Value>
using text_map = std::unordered_map<std::string, Value, text_hash, std::equal_to<>>;

/// The names that an attempt is known by.
struct attempt_names {
    std::string_view job;
    std::optional<std::string_view> task, attempt;
    std::string_view node;
    std::optional<double> start;
};

/// Attempts that run, and nodes.
///
/// @par Guarantees memory is bounded by the two numbers, and what has ended leaves its own to what begins;
/// rows stay where they are but for removals, which put the last row in the gap: the same events give the
/// same rows. Attempts are told apart by a hash of 64 bits, as in the mitigator
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
    // Of those, as a plan numbers them.
    [[nodiscard]] running_attempt const& running(std::size_t row) const { return running_[order_[row]]; }
    [[nodiscard]] std::vector<told_node> const& nodes() const { return nodes_; }

    /// The attempt of these names, or null.
    [[nodiscard]] running_attempt* find(attempt_names const& names);
    /// Its record, made if there is none; null where there is no room. What it says is for the caller to
    /// replace, but for its names.
    running_attempt* add(attempt_names const& names);
    void remove(running_attempt const& row);

    [[nodiscard]] told_node* find_node(std::string_view name);
    told_node* add_node(std::string_view name);
    /// Forgets a node and what runs there. @return whether it was there
    bool remove_node(std::string_view name);

    /// A list of all begins, with its first part; whatever is added from then on belongs to it.
    void begin_running_list() {
        if (!in_running_list_) ++running_round_;
        in_running_list_ = true;
    }
    void begin_node_list() {
        if (!in_node_list_) ++node_round_;
        in_node_list_ = true;
    }
    /// It is complete: others are forgotten.
    void end_running_list();
    void end_node_list();

    void write(straggle::byte_writer& out) const;
    /// False where it makes no sense; then it is empty.
    bool read(straggle::byte_reader& in);

  private:
    place& at(std::string_view node);
    void leave(place const& here);
    [[nodiscard]] place* find_place(std::string_view node);
    void remove_row(std::size_t row) { remove(running_[order_[row]]); }

    std::size_t most_nodes_, most_running_;
    straggle::interner<std::uint64_t> identities_;
    std::vector<running_attempt> running_; // by number of the identity
    std::vector<std::uint32_t> rows_;      // the same
    std::vector<std::uint32_t> order_;     // numbers by row
    std::vector<told_node> nodes_;
    straggle::interner<std::string> node_names_;
    std::deque<place> places_; // by number of the name: addresses stay
    std::uint64_t running_round_ = 0, node_round_ = 0;
    bool in_running_list_ = false, in_node_list_ = false;
};

} // namespace straggle_watch
