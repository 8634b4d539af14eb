// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `learn/kmeans.hpp`: one try after the other on the same rows.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/random.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/learn/detail/kmeans_nearest.hpp>
#include <straggle/learn/detail/kmeans_rows.hpp>
#include <straggle/stats/moments.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

class kmeans_tries {
  public:
    // @param seeds whether `seed` will be called
    status fit(learn::feature_matrix<double> const& table, bool seeds = true) {
        rows_.resize(0, 0);
        if (table.empty() || table.columns() == 0) return status::insufficient_evidence;
        for (double const x : table.values())
            if (!is_finite(x)) return status::out_of_domain;
        std::size_t const n = table.rows(), width = table.columns();
        bool const tabled = seeds && n <= most_tabled;
        pairs_.clear(); // nothing to copy
        pairs_.resize(tabled ? n * n : 0);
        mean_.resize(width);
        open_.make_room(n, width);
        rows_.resize(n, width); // the last to allocate: until then there are no rows
        total_ = 0;
        double largest = 0;
        for (std::size_t c = 0; c < width; ++c) {
            stats::moments column;
            for (std::size_t i = 0; i < n; ++i) column.add(table.row(i)[c]);
            mean_[c] = column.mean();
            total_ += column.sum_of_squared_deviations();
            // Distances are taken of small numbers: nothing cancels.
            for (std::size_t i = 0; i < n; ++i) {
                double const x = table.row(i)[c] - mean_[c];
                rows_.row(i)[c] = x;
                largest = (std::max)(largest, std::fabs(x));
            }
        }
        if (!is_finite(4 * total_)) {
            rows_.resize(0, 0);
            return status::out_of_range;
        }
        open_.set_rows(rows_, largest);
        if (tabled) tabulate();
        return status::ok;
    }

    [[nodiscard]] std::size_t rows() const noexcept { return rows_.rows(); }
    [[nodiscard]] std::size_t columns() const noexcept { return rows_.columns(); }
    [[nodiscard]] double total() const noexcept { return total_; }
    [[nodiscard]] std::span<std::uint32_t const> labels() const noexcept { return span_of(labels_); }

    // Seeds by greedy k-means++: of some rows, drawn with the weight of their squared distance to the seeds
    // so far, the one that leaves the least of it.
    // @return how many; fewer than asked for if there are not as many distinct rows
    template <base::random_engine Engine>
    std::size_t seed(std::size_t clusters, Engine& engine) {
        std::size_t const n = rows();
        centers_.resize(clusters, columns());
        seeds_.resize(clusters);
        nearest_.assign(n, (std::numeric_limits<double>::max)());
        double weight = take_seed(0, static_cast<std::size_t>(base::uniform_below(engine, n)));
        auto const tries = 2 + static_cast<std::size_t>(std::log(static_cast<double>(clusters)));
        for (std::size_t k = 1; k < clusters; ++k) {
            if (!(weight > 0)) return k;
            drawn_.clear();
            for (std::size_t t = 0; t < tries; ++t)
                drawn_.push_back(draw(base::uniform_unit(engine) * weight));
            std::size_t const best = pairs_.empty() ? best_by_rows() : best_by_pairs();
            weight = take_seed(k, drawn_[best]);
        }
        return clusters;
    }

    // Moves the centers until they hardly move.
    // @return rounds
    std::size_t run(std::size_t clusters, std::size_t most_rounds, double enough) {
        count_ = clusters;
        begin();
        std::size_t round = 1;
        for (; round <= most_rounds; ++round) {
            double const moved = move_centers();
            if (!(moved > 0)) break;
            bool const changed = reassign();
            if (!changed || moved <= enough) break;
        }
        return (std::min)(round, most_rounds);
    }

    [[nodiscard]] double inertia() { return inertia_of(span_of(labels_)); }

    // Sum of squared distances to the means of the groups.
    [[nodiscard]] double inertia_of(std::span<std::uint32_t const> label) {
        std::uint32_t groups = 0;
        for (std::uint32_t const l : label) groups = (std::max)(groups, l + 1);
        sum_up(label, groups);
        double inertia = 0;
        for (std::size_t i = 0; i < rows(); ++i)
            inertia += squared_distance(rows_.row(i), sums_.row(label[i]), rows_.width());
        return inertia;
    }

    // Sizes and centers of groups, in the user's numbers.
    void describe(std::span<std::uint32_t const> label, std::size_t groups, std::vector<std::uint32_t>& size,
                  std::vector<double>& centers) {
        sum_up(label, groups);
        size.assign(sizes_.begin(), sizes_.end());
        centers.assign(groups * columns(), 0.0);
        for (std::size_t g = 0; g < groups; ++g)
            for (std::size_t c = 0; sizes_[g] != 0 && c < columns(); ++c)
                centers[g * columns() + c] = sums_.row(g)[c] + mean_[c];
    }

  private:
    static constexpr std::size_t most_tabled = 2048;
    static constexpr double unrounded = 1 - 1e-12; // bounds are off by rounding

    void tabulate() {
        std::size_t const n = rows();
        for (std::size_t i = 0; i < n; ++i) {
            squared_distances(rows_.row(i), rows_, i, &pairs_[i * n]);
            pairs_[i * n + i] = 0;
            for (std::size_t j = 0; j < i; ++j) pairs_[j * n + i] = pairs_[i * n + j];
        }
    }
    double take_seed(std::size_t k, std::size_t row) {
        centers_.copy_row(k, rows_, row);
        seeds_[k] = row;
        double sum = 0;
        for (std::size_t i = 0; i < nearest_.size(); ++i) {
            double const d = pairs_.empty() ? squared_distance(rows_.row(i), rows_.row(row), rows_.width())
                                            : pairs_[row * rows() + i];
            nearest_[i] = (std::min)(nearest_[i], d);
            sum += nearest_[i];
        }
        return sum;
    }
    // Which of the rows drawn leaves the least distance.
    [[nodiscard]] std::size_t best_by_pairs() const {
        std::size_t best = 0;
        double least = (std::numeric_limits<double>::max)();
        for (std::size_t t = 0; t < drawn_.size(); ++t) {
            double const* const d = &pairs_[drawn_[t] * rows()];
            double sums[8] = {}; // adds that do not wait for each other
            std::size_t const n = nearest_.size(), whole = n / 8 * 8;
            for (std::size_t i = 0; i < whole; i += 8)
                for (std::size_t a = 0; a < 8; ++a) sums[a] += (std::min)(nearest_[i + a], d[i + a]);
            for (std::size_t i = whole; i < n; ++i) sums[i - whole] += (std::min)(nearest_[i], d[i]);
            double const rest =
                ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
            if (rest < least) {
                least = rest;
                best = t;
            }
        }
        return best;
    }
    // The same, reading each row once for all of them.
    [[nodiscard]] std::size_t best_by_rows() {
        candidates_.resize(drawn_.size(), columns());
        for (std::size_t t = 0; t < drawn_.size(); ++t) candidates_.copy_row(t, rows_, drawn_[t]);
        to_centers_.resize(drawn_.size());
        rest_.assign(drawn_.size(), 0.0);
        for (std::size_t i = 0; i < nearest_.size(); ++i) {
            if (!(nearest_[i] > 0)) continue;
            squared_distances(rows_.row(i), candidates_, drawn_.size(), to_centers_.data());
            for (std::size_t t = 0; t < drawn_.size(); ++t)
                rest_[t] += (std::min)(nearest_[i], to_centers_[t]);
        }
        return static_cast<std::size_t>(std::min_element(rest_.begin(), rest_.end()) - rest_.begin());
    }
    // The row at which the running sum of the weights passes `at`; never one of weight 0.
    [[nodiscard]] std::size_t draw(double at) const {
        std::size_t last = 0;
        double sum = 0;
        for (std::size_t i = 0; i < nearest_.size(); ++i) {
            if (!(nearest_[i] > 0)) continue;
            sum += nearest_[i];
            last = i;
            if (sum > at) break;
        }
        return last;
    }

    // The distances of all rows to all centers.
    void begin() {
        std::size_t const n = rows();
        labels_.assign(n, 0);
        to_own_.assign(n, 0.0);
        at_least_.assign(n * count_, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            double* const to = &at_least_[i * count_];
            if (pairs_.empty())
                squared_distances(rows_.row(i), centers_, count_, to);
            else // centers begin as rows, whose distances are known
                for (std::size_t k = 0; k < count_; ++k) to[k] = pairs_[seeds_[k] * n + i];
            auto const own = static_cast<std::size_t>(std::min_element(to, to + count_) - to);
            labels_[i] = static_cast<std::uint32_t>(own);
            for (std::size_t k = 0; k < count_; ++k) to[k] = std::sqrt(to[k]);
            to_own_[i] = to[own];
        }
        running_.resize(count_, columns());
        counts_.assign(count_, 0);
        for (std::size_t i = 0; i < n; ++i) {
            add_row<+1>(running_.row(labels_[i]), i);
            ++counts_[labels_[i]];
        }
    }
    [[nodiscard]] double distance(std::size_t row, std::size_t center) const {
        return std::sqrt(squared_distance(rows_.row(row), centers_.row(center), rows_.width()));
    }

    // @return by how much, squared and summed
    double move_centers() {
        fill_empty_groups();
        moved_.assign(count_, 0.0);
        sums_.resize(1, columns());
        double all = 0;
        for (std::size_t k = 0; k < count_; ++k) {
            if (counts_[k] == 0) continue;
            for (std::size_t c = 0; c < columns(); ++c) sums_.row(0)[c] = running_.row(k)[c] / counts_[k];
            double const d = squared_distance(sums_.row(0), centers_.row(k), rows_.width());
            moved_[k] = std::sqrt(d);
            all += d;
            centers_.copy_row(k, sums_, 0);
        }
        return all;
    }
    // Moves a row to another group. The sums accumulate rounding errors; the final result is summed anew.
    void change_group(std::size_t row, std::uint32_t to) {
        std::uint32_t const from = labels_[row];
        add_row<-1>(running_.row(from), row);
        add_row<+1>(running_.row(to), row);
        --counts_[from];
        ++counts_[to];
        labels_[row] = to;
    }
    template <int Sign>
    void add_row(double* sum, std::size_t row) const {
        double const* const x = rows_.row(row);
        for (std::size_t c = 0; c < rows_.width(); c += simd::lane_count) {
            simd::lanes const a = simd::load(sum + c), b = simd::load(x + c);
            simd::lanes const s = Sign > 0 ? a + b : a - b;
            std::memcpy(sum + c, &s, sizeof s);
        }
    }
    void fill_empty_groups() {
        for (std::size_t k = 0; k < count_; ++k) {
            if (counts_[k] != 0) continue;
            std::size_t farthest = 0;
            double most = -1;
            for (std::size_t i = 0; i < rows(); ++i) {
                if (counts_[labels_[i]] < 2) continue;
                double const d = squared_distance(rows_.row(i), centers_.row(labels_[i]), rows_.width());
                if (d > most) {
                    most = d;
                    farthest = i;
                }
            }
            if (most > 0) change_group(farthest, static_cast<std::uint32_t>(k)); // else all rows are centers
        }
    }
    // By the triangle inequality, a center that was far away and has moved little is still no nearer. Bounds
    // on the distance to a row's own center and to all others skip the rows whose center cannot change.
    bool reassign() {
        gap_.assign(count_ * count_, 0.0);
        nearest_gap_.assign(count_, (std::numeric_limits<double>::max)());
        for (std::size_t a = 0; a < count_; ++a)
            for (std::size_t b = 0; b < a; ++b) {
                double const half =
                    std::sqrt(squared_distance(centers_.row(a), centers_.row(b), rows_.width())) / 2;
                gap_[a * count_ + b] = gap_[b * count_ + a] = half;
                nearest_gap_[a] = (std::min)(nearest_gap_[a], half);
                nearest_gap_[b] = (std::min)(nearest_gap_[b], half);
            }
        open_.centers_move(count_);
        bool changed = false;
        for (std::size_t i = 0; i < rows(); ++i) {
            double* const at_least = &at_least_[i * count_];
            for (std::size_t k = 0; k < count_; ++k) at_least[k] -= moved_[k];
            std::uint32_t const own = labels_[i];
            double const most = to_own_[i] + moved_[own];
            to_own_[i] = most;
            if (most < nearest_gap_[own] * unrounded) continue;
            if (open_.list(own, at_least, &gap_[own * count_], most, unrounded) == 0) continue;
            open_centers::nearest_center const found = open_.find(i, own, centers_, at_least);
            to_own_[i] = found.most;
            std::uint32_t const nearest = found.is_certain ? found.center : nearest_by_rows(i, at_least);
            if (nearest == own) continue;
            change_group(i, nearest);
            changed = true;
        }
        return changed;
    }
    // Of its own and the open centers; of equals the first.
    [[nodiscard]] STRAGGLE_NEVER_INLINE std::uint32_t nearest_by_rows(std::size_t i, double* at_least) {
        std::uint32_t nearest = labels_[i];
        double least = at_least[nearest] = distance(i, nearest);
        for (std::uint32_t const k : open_.listed()) {
            at_least[k] = distance(i, k);
            if (at_least[k] < least || (at_least[k] == least && k < nearest)) {
                least = at_least[k];
                nearest = k;
            }
        }
        to_own_[i] = least;
        return nearest;
    }

    // Means of groups in `sums_`, as distances from a row of each: the mean of equal rows is that row.
    void sum_up(std::span<std::uint32_t const> label, std::size_t groups) {
        sums_.resize(groups, columns());
        sizes_.assign(groups, 0);
        one_of_.resize(groups);
        for (std::size_t i = 0; i < label.size(); ++i) {
            std::uint32_t const g = label[i];
            if (sizes_[g]++ == 0) {
                one_of_[g] = i;
                continue;
            }
            double* const sum = sums_.row(g);
            double const *const x = rows_.row(i), *const one = rows_.row(one_of_[g]);
            for (std::size_t c = 0; c < rows_.width(); c += simd::lane_count) {
                simd::lanes const s = simd::load(sum + c) + (simd::load(x + c) - simd::load(one + c));
                std::memcpy(sum + c, &s, sizeof s);
            }
        }
        for (std::size_t g = 0; g < groups; ++g)
            for (std::size_t c = 0; sizes_[g] != 0 && c < columns(); ++c)
                sums_.row(g)[c] = rows_.row(one_of_[g])[c] + sums_.row(g)[c] / sizes_[g];
    }

    padded_rows rows_, centers_, sums_;
    open_centers open_;
    padded_rows running_; // sums of the groups
    std::vector<std::uint32_t> counts_;
    std::vector<double> mean_;
    std::vector<double> pairs_; // squared distances of all pairs of rows, or none
    padded_rows candidates_;
    std::vector<std::size_t> drawn_, seeds_; // rows
    std::vector<double> rest_, nearest_;
    std::vector<std::uint32_t> labels_, sizes_;
    std::vector<std::size_t> one_of_; // a row of each group
    std::vector<double> to_centers_, moved_;
    std::vector<double> to_own_;            // at most; by row
    std::vector<double> at_least_;          // to each center; by row and center
    std::vector<double> gap_, nearest_gap_; // half of what is between centers
    double total_ = 0;
    std::size_t count_ = 0;
};
} // namespace straggle::detail
