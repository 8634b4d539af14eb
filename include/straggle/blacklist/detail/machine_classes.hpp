// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklist/node_stage.hpp`: which part of a node's slowdown is by design.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/row_sort.hpp>
#include <straggle/blacklist/node_verdict.hpp>
#include <straggle/rank/slowdown_evidence.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// What is known about the machine behind a node.
struct machine {
    double usual = 1;        // slowdown of its class
    bool was_fast = false;   // it was once seen without a slowdown
    bool is_grouped = false; // it is in the inferred slow class

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.usual, self.was_fast, self.is_grouped);
        a.expect(self.usual > 0 && self.usual < 1e30);
    }
};

// Machines declared to be of one class are compared with each other. Among undeclared machines, a group that
// has been slow since it was first seen, and is larger than what may be excluded, is a different hardware
// generation; a group that was faster before is at fault, and so is a single node.
class machine_classes {
  public:
    [[nodiscard]] double usual(std::uint32_t node) const noexcept {
        return node < machines_.size() ? machines_[node].usual : 1.0;
    }
    [[nodiscard]] std::size_t node_bound() const noexcept { return machines_.size(); }
    void forget(std::uint32_t node) noexcept {
        if (node < machines_.size()) machines_[node] = {};
    }

    // Updates the classes, and passes them to the evidence.
    void update(std::span<blacklist::node_row const> rows, slowdown_evidence& evidence,
                std::uint32_t max_nodes, double least_share) {
        entries_.clear();
        for (blacklist::node_row const& row : rows) {
            if (row.node >= max_nodes) continue;
            if (row.node >= machines_.size()) machines_.resize(std::size_t{row.node} + 1);
            slowdown const s = evidence.estimate_of(row.node);
            if (s.is_known() && s.tasks >= 8 && (s.high < 1.15 || (s.tasks >= 40 && s.value < 1.08)))
                machines_[row.node].was_fast = true;
            entries_.push_back({row.machine_class, row.slots, row.node, s});
        }
        auto const by_class = [](entry const& a, entry const& b) { return a.told < b.told; };
        if (!std::is_sorted(entries_.begin(), entries_.end(), by_class)) sort_rows(entries_, by_class);
        for (std::size_t first = 0; first < entries_.size();) {
            std::size_t last = first;
            while (last < entries_.size() && entries_[last].told == entries_[first].told) ++last;
            std::span<entry const> const alike = std::span(entries_).subspan(first, last - first);
            if (entries_[first].told != 0)
                judge_told(alike, evidence);
            else
                judge_untold(alike, evidence, least_share);
            first = last;
        }
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a.items(self.machines_, 10);
    }

  private:
    struct entry {
        std::uint32_t told, slots, node;
        slowdown known;
    };
    struct weighed {
        double value;
        std::uint32_t slots;
    };

    // The slot-weighted median of the chosen nodes.
    template <class Choose>
    double median(std::span<entry const> entries, Choose&& choose) {
        chosen_.clear();
        double all = 0;
        for (entry const& e : entries) {
            if (!choose(e)) continue;
            chosen_.push_back({e.known.value, e.slots});
            all += e.slots;
        }
        return middle_of_chosen(all);
    }
    double middle_of_chosen(double all) {
        std::sort(chosen_.begin(), chosen_.end(),
                  [](weighed const& a, weighed const& b) { return a.value < b.value; });
        double below = 0;
        for (weighed const& w : chosen_) {
            below += w.slots;
            if (2 * below >= all) return w.value;
        }
        return 1;
    }
    // Skip small steps: they are noise, and each discards evidence.
    void set(std::uint32_t node, double usual, slowdown_evidence& evidence) {
        machine& m = machines_[node];
        if (usual < 1.05 * m.usual && m.usual < 1.05 * usual) return;
        m.usual = usual;
        evidence.tolerate(node, usual);
    }
    // Once half of a class is well known, its usual slowdown is the median. Before that, only what is
    // significantly slower is believed, so that its first nodes are not excluded for what all of them are by
    // design.
    void judge_told(std::span<entry const> alike, slowdown_evidence& evidence) {
        auto const is_known = [](entry const& e) { return e.known.is_known() && is_finite(e.known.high); };
        auto const is_well_known = [](entry const& e) { return e.known.is_known() && e.known.tasks >= 8; };
        auto const count = [alike](auto const& which) {
            return static_cast<std::size_t>(std::count_if(alike.begin(), alike.end(), which));
        };
        std::size_t const known = count(is_known), well_known = count(is_well_known);
        bool const is_certain = well_known >= 3 && 2 * well_known >= alike.size();
        if (!is_certain && known < 3) return;
        double const usual = is_certain ? median(alike, is_well_known) : median(alike, is_known);
        if (!is_certain) {
            double squares = 0; // of the errors of single nodes
            for (entry const& e : alike) {
                double const error = is_known(e) ? std::log(e.known.high / e.known.value) / 1.96 : 0.0;
                squares += error * error;
            }
            constexpr double of_median = 1.57; // its variance relative to that of a mean
            double const error = std::sqrt(of_median * squares) / static_cast<double>(known);
            if (!(std::log(usual) > 0.05 + 2 * error)) return;
        }
        for (entry const& e : alike) set(e.node, usual, evidence);
    }
    void judge_untold(std::span<entry const> alike, slowdown_evidence& evidence, double least_share) {
        auto const is_slow = [this](entry const& e) {
            machine const& m = machines_[e.node];
            if (m.was_fast) return false;
            return m.is_grouped || (e.known.is_known() && e.known.tasks >= 3 && e.known.low > 1.05);
        };
        double known = 0, slow = 0;
        std::size_t nodes = 0;
        bool was_grouped = false;
        for (entry const& e : alike) {
            machine const& m = machines_[e.node];
            if (e.known.is_known()) known += e.slots;
            was_grouped = was_grouped || m.is_grouped;
            if (!is_slow(e)) continue;
            slow += e.slots;
            ++nodes;
        }
        bool const is_class = nodes >= 3 && slow > (was_grouped ? 0.5 : 1.0) * least_share * known;
        double const usual =
            is_class ? median(alike, [&](entry const& e) { return is_slow(e) && e.known.is_known(); }) : 1.0;
        for (entry const& e : alike) {
            machine& m = machines_[e.node];
            m.is_grouped = is_class && is_slow(e);
            set(e.node, m.is_grouped ? (std::max)(usual, 1.0) : 1.0, evidence);
        }
    }

    std::vector<machine> machines_;
    std::vector<entry> entries_;
    std::vector<weighed> chosen_;
};

} // namespace straggle::detail
