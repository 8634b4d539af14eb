// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `assign/optimal_assignment.hpp`: finds the pairs of a row that yield most at the current
/// prices, without examining all of them.
///
/// A row holds its best pairs (an eighth of all, or 64) close together in memory, and lists the best 64 of
/// those in order. Both are based on earlier prices. As prices only rise, the old yield of a pair is an upper
/// bound from then on; the same holds for pairs not listed, or not held. A list is sorted again once outdated
/// entries have cost as much as sorting; it is rebuilt from the held pairs when an unlisted pair could be
/// useful, and the held pairs are rebuilt from all pairs likewise.
#pragma once

#include <straggle/assign/greedy_assignment.hpp>
#include <straggle/base/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The data of a column that every examined pair needs.
struct column_offer {
    double price = 0; // what a path must yield to end in a full column
    double gain = 0;  // of the best path to it; 0: none
};

class best_pairs {
    using pairs = assign::assignable_pairs;
    using offers = std::vector<column_offer>;

  public:
    struct edge {
        double at_most; // the value minus an earlier price of the column
        double value;
        std::uint32_t column;
        std::uint32_t pair;
    };

    // Prepares for new pairs. Later calls do not allocate.
    void prepare(pairs const& p) {
        std::size_t const rows = p.rows();
        search_ = 0;
        rows_.clear();
        rows_.reserve(rows);
        std::size_t begin = 0;
        std::uint32_t most = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            std::uint32_t const count = p.first[row + 1] - p.first[row];
            most = (std::max)(most, count);
            // Twice what is held: equal pairs are held either all or none.
            std::uint32_t const capacity =
                count > few ? (std::min)(count, (std::max)(count / 4, 2 * list_length)) : 0;
            rows_.push_back(
                {.begin = begin, .capacity = capacity, .wanted = (std::min)(capacity, list_length)});
            begin += capacity;
        }
        if (edges_.size() < begin) edges_.resize(begin);
        if (brings_.size() < most) brings_.resize(most);
    }
    // Prices may have risen since the last search.
    void begin_search() noexcept { ++search_; }

    template <class Use>
    static void for_all(pairs const& p, std::uint32_t row, Use&& use) {
        for (std::uint32_t i = p.first[row]; i < p.first[row + 1]; ++i)
            use(edge{0, p.value[i], p.column[i], i});
    }
    // Calls `use` for all pairs of a row with few pairs, otherwise for the listed pairs, best first, until
    // `enough` says that the upper bound of the rest is of no use.
    // @param use returns whether the pair was outdated because the price had risen
    // @return whether the other pairs, which are far away in memory, are of no use
    template <class Enough, class Use>
    bool for_best(pairs const& p, offers const& o, std::uint32_t row, Enough&& enough, Use&& use) {
        row_list& r = rows_[row];
        if (r.capacity == 0) {
            for_all(p, row, use);
            return true;
        }
        if (r.listed_in == never)
            list(p, o, row);
        else if (r.stale > most_stale)
            put_in_order(o, r);
        std::uint32_t stale = 0;
        bool is_enough = false;
        for (edge const *e = edges_.data() + r.begin, *const end = e + r.listed; e != end; ++e) {
            is_enough = enough(e->at_most);
            if (is_enough) break;
            stale += use(*e) ? 1u : 0u;
        }
        r.stale += stale;
        return is_enough || enough(r.rest);
    }
    // Upper bound on the yield of unlisted pairs.
    [[nodiscard]] double rest(std::uint32_t row) const noexcept { return rows_[row].rest; }

    // Rebuilds a list that is older than the search.
    // @return whether it was
    bool renew(pairs const& p, offers const& o, std::uint32_t row) {
        if (rows_[row].listed_in == search_) return false;
        list(p, o, row);
        return true;
    }
    // Rebuilds the list, or makes it longer.
    // @return false if that would include all pairs
    bool lengthen(pairs const& p, offers const& o, std::uint32_t row) {
        row_list& r = rows_[row];
        if (r.listed_in == search_) {
            if (r.rest > r.rest_of_all)
                r.wanted = (std::min)(2 * r.wanted, r.capacity);
            else if (r.held_in == search_)
                return false;
            else
                hold(p, o, row);
        }
        list(p, o, row);
        return true;
    }

  private:
    // Number of pairs that justify a list, and its length.
    static constexpr std::uint32_t few = 12, list_length = 64;
    // Outdated lookups that cost as much as sorting a list.
    static constexpr std::uint32_t most_stale = 50;
    static constexpr std::uint32_t never = (std::numeric_limits<std::uint32_t>::max)();

    struct row_list {
        std::size_t begin;                                // of the pairs it holds; the first are listed
        double rest = 0, rest_of_all = 0;                 // upper bounds for pairs not listed, and not held
        std::uint32_t capacity;                           // 0 if it has few pairs
        std::uint32_t wanted;                             // target length of the list
        std::uint32_t listed = 0, held = 0;               // actual numbers
        std::uint32_t listed_in = never, held_in = never; // the searches in which they were made
        std::uint32_t stale = 0;                          // outdated lookups
    };

    // Lists about as many of the best pairs as wanted, at current prices.
    void list(pairs const& p, offers const& o, std::uint32_t row) {
        row_list& r = rows_[row];
        if (r.held_in != never) list_held(p, o, r);
        if (r.held_in != never && (2 * r.listed >= r.wanted || r.held_in == search_)) return;
        hold(p, o, row);
        list_held(p, o, r);
    }
    void list_held(pairs const& p, offers const& o, row_list& r) {
        edge* const held = edges_.data() + r.begin;
        for (std::uint32_t i = 0; i < r.held; ++i)
            brings_[i] = held[i].at_most = held[i].value - o[held[i].column].price;
        r.rest = r.wanted < r.held ? (std::max)(r.rest_of_all, least_of(r.held, r.wanted)) : r.rest_of_all;
        r.listed = r.stale = 0;
        r.listed_in = search_;
        for (std::uint32_t i = 0; i < r.held; ++i)
            if (!(held[i].at_most < r.rest)) std::swap(held[i], held[r.listed++]);
        std::sort(held, held + r.listed, [&p](edge const& a, edge const& b) {
            if (a.at_most != b.at_most) return a.at_most > b.at_most;
            if (p.second[a.pair] != p.second[b.pair]) return p.second[a.pair] > p.second[b.pair];
            return a.pair < b.pair;
        });
        // If a row lists as many pairs as there are rows, one of their columns always has room and price 0:
        // no other pair is better.
        if (r.listed >= p.rows()) r.rest = std::numeric_limits<double>::lowest();
    }
    void hold(pairs const& p, offers const& o, std::uint32_t row) {
        row_list& r = rows_[row];
        std::uint32_t const begin = p.first[row], count = p.first[row + 1] - begin;
        for (std::uint32_t i = 0; i < count; ++i)
            brings_[i] = p.value[begin + i] - o[p.column[begin + i]].price;
        r.rest_of_all = least_of(count, (std::max)(r.capacity / 2, r.wanted));
        r.held = 0;
        r.held_in = search_;
        edge* const held = edges_.data() + r.begin;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (brings_[i] < r.rest_of_all) continue;
            if (r.held == r.capacity) { // too many: keep the better half
                std::uint32_t const half = r.capacity / 2;
                std::nth_element(held, held + half, held + r.held,
                                 [](edge const& a, edge const& b) { return a.at_most > b.at_most; });
                r.rest_of_all = held[half].at_most;
                r.held = half;
                if (brings_[i] < r.rest_of_all) continue;
            }
            held[r.held++] = {brings_[i], p.value[begin + i], p.column[begin + i], begin + i};
        }
    }
    // Approximate threshold for the `wanted` best of `brings_`, from a sample. The exact value takes three
    // times as long.
    [[nodiscard]] double least_of(std::uint32_t count, std::uint32_t wanted) const {
        constexpr std::uint32_t drawn = 64;
        double sample[drawn];
        for (std::uint32_t i = 0; i < drawn; ++i)
            sample[i] = brings_[static_cast<std::size_t>(count) * i / drawn];
        std::size_t const place = (std::min)(std::size_t{drawn} * wanted / count, std::size_t{drawn - 1});
        std::nth_element(sample, sample + place, sample + drawn, [](double a, double b) { return a > b; });
        return sample[place];
    }
    // Sorts the list again, with most entries in place. Drops entries that fall below unlisted pairs.
    void put_in_order(offers const& o, row_list& r) {
        edge* const listed = edges_.data() + r.begin;
        for (std::uint32_t i = 0; i < r.listed; ++i) {
            edge e = listed[i];
            e.at_most = e.value - o[e.column].price;
            std::uint32_t at = i;
            for (; at > 0 && listed[at - 1].at_most < e.at_most; --at) listed[at] = listed[at - 1];
            listed[at] = e;
        }
        while (r.listed > 0 && listed[r.listed - 1].at_most < r.rest) --r.listed;
        r.stale = 0;
    }

    std::vector<row_list> rows_;
    std::vector<edge> edges_;    // row by row
    std::vector<double> brings_; // of the pairs of a row
    std::uint32_t search_ = 0;
};

} // namespace straggle::detail
