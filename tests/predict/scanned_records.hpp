// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a profile store should be: a list of records, scanned for every question. And rows of all sorts.
#pragma once

#include <straggle/base/random.hpp>
#include <straggle/predict/profile_store.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <vector>

namespace straggle_test {

inline constexpr auto numeric = straggle::predict::factor_kind::numeric;
inline constexpr auto categorical = straggle::predict::factor_kind::categorical;

struct scanned_records {
    struct record {
        std::vector<double> row;
        double time;
        std::uint64_t number;
    };
    std::vector<straggle::predict::factor_kind> kinds;
    std::size_t capacity;
    std::deque<record> records;
    std::uint64_t added = 0;

    scanned_records(std::vector<straggle::predict::factor_kind> of, std::size_t most)
        : kinds(std::move(of)), capacity(most) {}

    void add(std::vector<double> const& row, double time) {
        if (records.size() == capacity) records.pop_front();
        records.push_back({row, time, added++});
    }
    template <class Engine>
    void add(std::vector<double> const& row, double time, Engine& engine) {
        if (records.size() == capacity)
            records.erase(records.begin() +
                          static_cast<std::ptrdiff_t>(straggle::base::uniform_below(engine, records.size())));
        records.push_back({row, time, added++});
    }
    void clear() {
        records.clear();
        added = 0;
    }

    [[nodiscard]] std::vector<double> ranges() const {
        std::vector<double> all;
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            std::vector<double> known;
            for (record const& r : records)
                if (!std::isnan(r.row[k])) known.push_back(r.row[k]);
            auto const [low, high] = std::minmax_element(known.begin(), known.end());
            all.push_back(kinds[k] == categorical ? 1.0 : known.empty() ? 0.0 : *high - *low);
        }
        return all;
    }
    [[nodiscard]] std::vector<straggle::predict::neighbor> nearest(std::vector<double> const& row,
                                                                   std::vector<double> const& weights,
                                                                   std::size_t k, double within) const {
        std::vector<straggle::predict::neighbor> all;
        auto const scales = ranges();
        for (record const& r : records) {
            double const d = straggle::predict::weighted_distance(kinds, r.row, row, scales, weights);
            if (d <= within) all.push_back({d, r.time, r.number});
        }
        std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) {
            return a.distance != b.distance ? a.distance < b.distance : a.number > b.number;
        });
        all.resize((std::min)(k, all.size()));
        return all;
    }
};

inline bool same_row(std::span<double const> a, std::span<double const> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

// Rows with factors of all sorts: spread, in steps so that there are ties, of very different sizes, in
// clusters, categories; with values missing often, seldom or never.
struct random_rows {
    explicit random_rows(std::uint64_t seed) : draw(seed) {
        std::size_t const factors = 1 + draw() % 9;
        for (std::size_t k = 0; k < factors; ++k) {
            sorts.push_back(draw() % 6);
            kinds.push_back(sorts[k] >= 4 ? categorical : numeric);
            std::uint64_t const often[] = {0, 0, 3, 20};
            missing.push_back(often[draw() % 4]);
        }
    }

    double uniform() { return static_cast<double>(draw() >> 11) * 0x1p-53; }

    std::vector<double> row() {
        std::uint64_t const cluster = draw() % 10;
        std::vector<double> values;
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            std::uint64_t const sort = k < sorts.size() ? sorts[k] : 0;
            double x = 0;
            switch (sort) {
            case 0:
                x = 100 * uniform();
                break;
            case 1:
                x = static_cast<double>(draw() % 4);
                break;
            case 2:
                x = std::exp(20 * uniform());
                break;
            case 3:
                x = static_cast<double>(cluster * cluster) + 0.1 * uniform();
                break;
            case 4:
                x = static_cast<double>(draw() % 3);
                break;
            default:
                x = static_cast<double>(cluster * 1000 + draw() % 20);
            }
            bool const gap = k < missing.size() && missing[k] != 0 && draw() % missing[k] == 0;
            values.push_back(gap ? straggle::predict::missing_factor : x);
        }
        return values;
    }
    std::vector<double> weights() {
        std::vector<double> all;
        std::uint64_t const sort = draw() % 4;
        for (std::size_t k = 0; k < kinds.size(); ++k)
            all.push_back(sort == 0 ? 1.0 : sort == 1 && draw() % 2 == 0 ? 0.0 : uniform());
        return all;
    }

    std::mt19937_64 draw;
    std::vector<straggle::predict::factor_kind> kinds;
    std::vector<std::uint64_t> sorts;
    std::vector<std::uint64_t> missing;
};

} // namespace straggle_test
