// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/rank_nodes.hpp` and `rank/monitor.hpp`: how long the tasks of a node take relative
/// to those of the same jobs elsewhere, for the slowdowns of a ranking.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The yardstick for tasks of a job: their number and mean time.
struct job_yardstick {
    std::uint64_t tasks = 0;
    double per_mean = 0; // 1 / mean; 0 if meaningless

    [[nodiscard]] static job_yardstick of(std::uint64_t tasks, double mean) noexcept {
        double const per_mean = 1 / mean;
        bool const sound = mean > 0 && per_mean > 0 && per_mean < 1e300;
        return {tasks, sound ? per_mean : 0.0};
    }
    // Whether tasks of the job can be compared with siblings.
    [[nodiscard]] bool compares() const noexcept { return tasks > 1 && per_mean > 0; }
};

// One node, over jobs with siblings elsewhere. Each of its pairs with a job contributes two numbers: the mean
// of its tasks and that of the others, both relative to the job's mean. Their weight is the precision of the
// difference of two such means: m = n (N - n) / N tasks, for n of N, at most 4096. A job on one node has
// weight 0.
template <class Sum>
struct time_sums {
    Sum weight{};            // m
    Sum here{}, elsewhere{}; // m r, m o
    Sum here_squared{};      // their squares
    Sum both{};
    Sum elsewhere_squared{};
    Sum within{};            // squared deviations of tasks from their pair's mean
    std::uint64_t tasks = 0; // with siblings elsewhere
    std::uint64_t jobs = 0;

    static constexpr std::array<Sum time_sums::*, 7> members{
        &time_sums::weight,       &time_sums::here, &time_sums::elsewhere,
        &time_sums::here_squared, &time_sums::both, &time_sums::elsewhere_squared,
        &time_sums::within};
    friend bool operator==(time_sums const&, time_sums const&) = default;
};

// Relative times in whole steps, so that they have the same bits wherever they are computed: exact sums add
// them unchanged.
struct time_grid {
    static constexpr int bits = 24;
    static constexpr double steps = 0x1p24;
    static constexpr double most = 256, most_worth = 4096; // limits of relative times and weights
};

// The yardstick for a task that is the only one of its job on its node, as most are: precomputes what depends
// on the job alone.
struct lone_yardstick {
    double steps_per_unit = 0; // for a duration
    double worth = 0;          // m
    double others = 0;         // N - 1
    std::int64_t whole = 0;    // N, in steps

    // @pre job.compares()
    [[nodiscard]] static lone_yardstick of(job_yardstick const& job) noexcept {
        double const others = static_cast<double>(job.tasks - 1);
        return {job.per_mean * time_grid::steps, others / static_cast<double>(job.tasks), others,
                static_cast<std::int64_t>(job.tasks << time_grid::bits)};
    }
};

// The sums above. Exact ones are integers, so that order and merging do not change a bit. Uses only products
// and quotients: nothing that a compiler could contract on one machine and not on another.
template <bool Exact>
class relative_times {
    using sum_type = std::conditional_t<Exact, std::int64_t, double>;
    using sums = time_sums<sum_type>;

  public:
    // Adds `n` tasks of a job on this node.
    STRAGGLE_ALWAYS_INLINE void add(job_yardstick const& job, std::uint64_t n, double mean,
                                    double squared_deviations) noexcept {
        if (n >= job.tasks || !(job.per_mean > 0)) return;
        double const raw = mean * job.per_mean;
        auto const r = static_cast<std::int64_t>((raw < most ? raw : most) * grid);
        auto const rest = job.tasks - n;
        // n r is at most N except for rounding.
        auto const left =
            static_cast<std::int64_t>((job.tasks << time_grid::bits) - n * static_cast<std::uint64_t>(r));
        double const here = static_cast<double>(r) / grid;
        double const others = left > 0 ? static_cast<double>(left) / (static_cast<double>(rest) * grid) : 0.0;
        double const elsewhere = others < most ? others : most;
        double const worth =
            static_cast<double>(n) * static_cast<double>(rest) / static_cast<double>(job.tasks);
        double const m = worth < time_grid::most_worth ? worth : time_grid::most_worth;
        double const m_here = m * here, m_elsewhere = m * elsewhere;
        bring(sums_.weight, m);
        bring(sums_.here, m_here);
        bring(sums_.elsewhere, m_elsewhere);
        bring(sums_.here_squared, m_here * m_here);
        bring(sums_.both, m_here * m_elsewhere);
        bring(sums_.elsewhere_squared, m_elsewhere * m_elsewhere);
        if (n > 1) {
            double const spread = squared_deviations * job.per_mean * job.per_mean, top = most * most;
            bring(sums_.within,
                  spread < top * static_cast<double>(n) ? spread : top * static_cast<double>(n));
        }
        sums_.tasks += n;
        ++sums_.jobs;
    }
    // The same for one task, bit for bit: multiplies by powers of two once per job, and no sum can overflow.
    STRAGGLE_ALWAYS_INLINE void add(lone_yardstick const& job, double duration) noexcept {
        double const raw = duration * job.steps_per_unit, top = most * grid;
        auto const r = static_cast<std::int64_t>(raw < top ? raw : top);
        auto const left =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(job.whole) - static_cast<std::uint64_t>(r));
        double const others = left > 0 ? static_cast<double>(left) / job.others : 0.0;
        // In steps for exact sums, otherwise relative to the job's mean.
        double const m = Exact ? job.worth : job.worth * (1 / grid);
        double const here = m * static_cast<double>(r), elsewhere = m * (others < top ? others : top);
        constexpr double root = Exact ? 0x1p-12 : 1.0; // so that products are in steps, too
        double const h = here * root, e = elsewhere * root;
        plus(sums_.weight, static_cast<sum_type>(Exact ? job.worth * grid : job.worth));
        plus(sums_.here, static_cast<sum_type>(here));
        plus(sums_.elsewhere, static_cast<sum_type>(elsewhere));
        plus(sums_.here_squared, static_cast<sum_type>(h * h));
        plus(sums_.both, static_cast<sum_type>(h * e));
        plus(sums_.elsewhere_squared, static_cast<sum_type>(e * e));
        ++sums_.tasks;
        ++sums_.jobs;
    }
    void merge(relative_times const& other) noexcept {
        for (auto const member : sums::members) plus(sums_.*member, other.sums_.*member);
        sums_.tasks += other.sums_.tasks;
        sums_.jobs += other.sums_.jobs;
    }
    // The sums in units of tasks.
    [[nodiscard]] time_sums<double> in_tasks() const noexcept {
        time_sums<double> s;
        for (std::size_t k = 0; k < sums::members.size(); ++k)
            s.*time_sums<double>::members[k] = static_cast<double>(exact_sum(sums_.*sums::members[k])) / unit;
        s.tasks = sums_.tasks;
        s.jobs = sums_.jobs;
        return s;
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        for (auto const member : sums::members) {
            sum_type x = exact_sum(self.sums_.*member);
            a(x);
            a.expect(x >= 0 && is_finite(static_cast<double>(x)));
            if constexpr (Archive::reads) self.sums_.*member = x;
        }
        a.varint(self.sums_.tasks);
        a.varint(self.sums_.jobs);
    }
    friend bool operator==(relative_times const& a, relative_times const& b) noexcept {
        for (auto const member : sums::members)
            if (exact_sum(a.sums_.*member) != exact_sum(b.sums_.*member)) return false;
        return a.sums_.tasks == b.sums_.tasks && a.sums_.jobs == b.sums_.jobs;
    }

  private:
    static constexpr double grid = time_grid::steps, most = time_grid::most;
    static constexpr double unit = Exact ? grid : 1.0;

    static void plus(sum_type& to, sum_type x) noexcept {
        // Wraps instead of overflowing: averages over billions of tasks at the limit are not needed.
        if constexpr (Exact)
            to = static_cast<std::int64_t>(static_cast<std::uint64_t>(to) + static_cast<std::uint64_t>(x));
        else
            to += x;
    }
    // Modulo 2^63, so that a wrapped sum is not negative.
    static sum_type exact_sum(sum_type x) noexcept {
        if constexpr (Exact)
            return x & (std::numeric_limits<std::int64_t>::max)();
        else
            return x;
    }
    static void bring(sum_type& to, double x) noexcept {
        if constexpr (Exact) {
            constexpr double top = 0x1p62;
            double const steps = x * grid;
            plus(to, static_cast<std::int64_t>(steps < top ? steps : top));
        } else {
            to += x;
        }
    }

    sums sums_;
};

// Scores of a node, with its relative times.
template <class Scores, bool Exact>
class timed_scores : public Scores {
  public:
    timed_scores() = default;
    timed_scores(Scores const& scores, relative_times<Exact> const& times) : Scores(scores), times_(times) {}
    void merge(timed_scores const& other) noexcept {
        Scores::merge(other);
        times_.merge(other.times_);
    }
    [[nodiscard]] relative_times<Exact> const& times() const noexcept { return times_; }
    [[nodiscard]] relative_times<Exact>& times() noexcept { return times_; }

  private:
    relative_times<Exact> times_;
};

// Which nodes are compared with each other, directly or through other nodes: the components of the graph of
// jobs and nodes. Siblings at unknown places count as one additional node.
class node_links {
  public:
    static constexpr std::uint32_t somewhere = 0xffffffffu;

    void clear() noexcept {
        parent_.clear();
        parts_ = 0;
    }
    // Resets to this many nodes, all unlinked.
    void reset(std::size_t nodes) {
        clear();
        grow(nodes);
    }
    // Grows to at least this many nodes; new ones are unlinked. Strong guarantee.
    void grow(std::size_t nodes) {
        for (; parent_.size() <= nodes; ++parts_)
            parent_.push_back(static_cast<std::uint32_t>(parent_.size()));
    }
    // Links two nodes with tasks of one job.
    STRAGGLE_ALWAYS_INLINE void join(std::uint32_t a, std::uint32_t b) noexcept {
        if (parent_[place(a)] == parent_[place(b)]) return; // nearly always, after a short time
        std::uint32_t const x = component(a), y = component(b);
        if (x == y) return;
        parent_[x < y ? y : x] = x < y ? x : y;
        --parts_;
    }
    // Whether all nodes are linked. @pre none was linked with `somewhere`
    [[nodiscard]] bool are_all_joined() const noexcept { return parts_ <= 2; }
    // Links the nodes of all attempts of a job; `read` converts an element to something with a `node`.
    // @pre there is an attempt
    template <class Attempts, class Read>
    STRAGGLE_ALWAYS_INLINE void join_all(Attempts const& attempts, Read read) noexcept {
        std::uint32_t const* const parent = parent_.data();
        std::uint32_t const first = read(attempts[0]).node;
        std::uint32_t known =
            parent[place(first)]; // linked with the first, even if a join has changed its root
        for (auto const& a : attempts) {
            std::uint32_t const node = read(a).node;
            if (parent[place(node)] == known) [[likely]]
                continue;
            join(node, first);
            known = parent[place(first)];
        }
    }
    // A number shared by linked nodes, from 0 to the number of nodes.
    [[nodiscard]] std::uint32_t component(std::uint32_t node) noexcept {
        std::uint32_t i = place(node);
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    // Calls visit(node, other) for pairs of linked nodes that together span all links.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::uint32_t i = 0; i < parent_.size(); ++i)
            if (parent_[i] != i) visit(i - 1, parent_[i] - 1);
    }

  private:
    // Place 0 is `somewhere`.
    static constexpr std::uint32_t place(std::uint32_t node) noexcept { return node + 1; }

    std::vector<std::uint32_t> parent_; // by place
    std::size_t parts_ = 0;             // components, `somewhere` included
};

} // namespace straggle::detail
