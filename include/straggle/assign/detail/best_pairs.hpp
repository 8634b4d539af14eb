// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `assign/optimal_assignment.hpp`: which pairs of a row bring most at the prices of today,
/// without looking at all of them.
///
/// A row holds its best pairs, an eighth of all or 64, whose memory is close together; of those it lists the
/// best 64 in order. Both know the prices of some time. As prices only rise, what a pair brought then bounds
/// what it brings ever after, and the same is true of all that is not listed, or not held. A list is put in
/// order again when it has cost as much as that by being out of date; it is made anew from what is held when
/// what is not listed could be of use, and so is what is held from all pairs.
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

// Of a column: what every look at a pair needs.
struct column_offer {
    double price = 0; // what a path has to bring to end in a full column
    double gain = 0;  // of the best path to it; 0 for none
};

class best_pairs {
    using pairs = assign::assignable_pairs;
    using offers = std::vector<column_offer>;

  public:
    struct edge {
        double at_most; // the value, less the price of the column at some time
        double value;
        std::uint32_t column;
        std::uint32_t pair;
    };

    // For new pairs. Allocates nothing else later.
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
            // Twice what is held: equal pairs are held all or not at all.
            std::uint32_t const capacity =
                count > few ? (std::min)(count, (std::max)(count / 4, 2 * list_length)) : 0;
            rows_.push_back(
                {.begin = begin, .capacity = capacity, .wanted = (std::min)(capacity, list_length)});
            begin += capacity;
        }
        if (edges_.size() < begin) edges_.resize(begin);
        if (brings_.size() < most) brings_.resize(most);
    }
    // Prices may have risen.
    void begin_search() noexcept { ++search_; }

    template <class Use>
    static void for_all(pairs const& p, std::uint32_t row, Use&& use) {
        for (std::uint32_t i = p.first[row]; i < p.first[row + 1]; ++i)
            use(edge{0, p.value[i], p.column[i], i});
    }
    // Calls `use` for all of a few pairs of a row, else for those that are listed, the best first, until
    // `enough` says of what one could bring at most, before anything is added, that the rest is of no use.
    // @param use says whether the look was in vain, as the price had risen
    // @return whether the others are of no use, whose memory is far away
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
    // What a pair that is not listed can bring at most.
    [[nodiscard]] double rest(std::uint32_t row) const noexcept { return rows_[row].rest; }

    // Makes a list that is older than the search anew.
    // @return whether it was
    bool renew(pairs const& p, offers const& o, std::uint32_t row) {
        if (rows_[row].listed_in == search_) return false;
        list(p, o, row);
        return true;
    }
    // The same, or a longer one.
    // @return false where that would be all pairs
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
    // Pairs of a row that are worth a list. As few are looked at one and all.
    static constexpr std::uint32_t few = 12, list_length = 64;
    // Looks at pairs in vain that take as long as to put a list in order.
    static constexpr std::uint32_t most_stale = 50;
    static constexpr std::uint32_t never = (std::numeric_limits<std::uint32_t>::max)();

    struct row_list {
        std::size_t begin;                                // of what it holds; the first are listed
        double rest = 0, rest_of_all = 0;                 // what those not listed, not held can bring at most
        std::uint32_t capacity;                           // 0 where pairs are few
        std::uint32_t wanted;                             // as many should be listed
        std::uint32_t listed = 0, held = 0;               // are
        std::uint32_t listed_in = never, held_in = never; // the searches when that was
        std::uint32_t stale = 0;                          // looks in vain
    };

    // The best pairs at the prices of today: as many as are wanted, about.
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
        // One of as many as there are rows has room, and never has another price than 0: nothing brings more.
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
            if (r.held == r.capacity) { // too many: the better half of them
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
    // The least of so many of the best of `brings_`, about, as a sample has it. To find the very number takes
    // three times as long.
    [[nodiscard]] double least_of(std::uint32_t count, std::uint32_t wanted) const {
        constexpr std::uint32_t drawn = 64;
        double sample[drawn];
        for (std::uint32_t i = 0; i < drawn; ++i)
            sample[i] = brings_[static_cast<std::size_t>(count) * i / drawn];
        std::size_t const place = (std::min)(std::size_t{drawn} * wanted / count, std::size_t{drawn - 1});
        std::nth_element(sample, sample + place, sample + drawn, [](double a, double b) { return a > b; });
        return sample[place];
    }
    // What is listed, most of which stays where it is. What falls behind those that are not listed is listed
    // no longer.
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
