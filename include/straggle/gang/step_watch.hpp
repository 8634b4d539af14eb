// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Gangs: tasks that run simultaneously and wait for each other in each step, as in MPI programs and the
/// training of large models. Their wall times are all alike; the rank that works longest, and so waits least,
/// is the one the others wait for.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/gang/detail/gang_core.hpp>
#include <straggle/gang/step_fields.hpp>
#include <straggle/record/slowdown.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::gang {

/// When a rank is named, and how much is remembered.
struct step_watch_options {
    double least_slowdown = 1.1;       ///< a rank is named once it is provably slower than this
    double windows_per_error = 1000;   ///< accepts one false alarm in this many windows of the whole gang
    std::size_t max_ranks = 1u << 17;  ///< limit on ranks, and on nodes, remembered
    std::size_t max_stages = 1u << 10; ///< limit on groups of ranks with the same work
};

/// The cause of a slow rank.
enum class fault : std::uint8_t {
    rank_or_node, ///< the rank is alone on its node: the two cannot be distinguished
    node,         ///< the other ranks on its node are slow, too
    rank,         ///< the other ranks on its node are not slow, or it is slow again on a different node
};
/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(fault f) noexcept {
    return f == fault::node ? "node" : f == fault::rank ? "rank" : "rank_or_node";
}

/// A rank that the others wait for.
template <class Rank, class Node, class Section>
struct straggler {
    Rank rank;            ///< its name
    Node node;            ///< where it runs
    Section section;      ///< the section in which it loses most
    slowdown slow;        ///< its own work relative to that of the ranks it is compared with, since `since`
    std::int64_t since;   ///< the first step in which it was slow
    double of_best;       ///< its work relative to the lowest usual value of its own past
    double loss_per_step; ///< seconds per step that the gang waits for it
    fault whose;          ///< the cause
};

/// The length of steps, and what it would have been if no rank had been slower than the median of its stage.
struct step_loss {
    double steps = 0;              ///< steps compared
    double seconds = 0;            ///< mean length of a step
    double without_stragglers = 0; ///< mean length without stragglers
    double moving = 0;             ///< share of the loss that no named rank explains: skewed data, chance

    /// The share of the time lost to stragglers.
    [[nodiscard]] constexpr double share() const noexcept {
        return seconds > 0 ? 1 - without_stragglers / seconds : 0.0;
    }
};

/// The cost of a replacement for the whole gang, in the unit of the reports.
struct replacement_cost {
    double restart = 0;          ///< time until the gang runs again
    double since_checkpoint = 0; ///< lost work
    double steps_left = 0;       ///< remaining steps of the job, or until it would restart anyway
};

/// Whether to restart the gang without a node. Each node of the gang gains as much.
struct replacement {
    double gain_per_step = 0;                                    ///< expected time saved in each step
    double gain = 0;                                             ///< over the remaining steps, minus the cost
    double low = 0;                                              ///< lower end of the interval of `gain`
    double high = 0;                                             ///< upper end
    std::size_t nodes_waiting = 0;                               ///< the other nodes of the gang
    double pays_after = std::numeric_limits<double>::infinity(); ///< number of steps
    bool is_worth = false; ///< `low` is above 0, and the rank stays slow
};

/// Finds the ranks that a gang waits for.
///
/// Source: ours. The loss explained by a rank, section or stage is computed from how long a step would have
/// taken if all others had worked like the median of their stage, after Lin et al., *Understanding stragglers
/// in large model training using what-if analysis* (OSDI 2025).
///
/// A rank's own work (its time minus its waits) is compared with the median of its stage, in logarithms, step
/// by step. A cumulative sum (Page 1954) finds the step since which it has been slow; it is named when the
/// interval of its slowdown since then, by Student's t, with the level divided among ranks and possible
/// starts, lies above `least_slowdown`. A rank that is slow occasionally, because of its data, is never
/// named: it contributes to the `moving` share of the loss.
///
/// @par Example
/// `auto watch = gang::step_watch_of<report>(gang::step_fields{.step = &report::step, .rank = ...});`
/// `observe` each report; call `close(step)` when all reports of a step have arrived, or let the reports of
/// most ranks of the fourth step after it close it. Then call `stragglers()` and `loss()`.
///
/// @tparam Report the user's type
/// @tparam Fields a `step_fields`
/// @par Cost
/// `observe` O(1), and each closed step O(ranks (sections + stages)). Memory: about 250 bytes per rank, plus
/// 192 for each open step, of which there are at most 8; allocates nothing once all ranks have reported
/// @par Guarantees
/// deterministic; independent of the unit of time; no rank alone closes a step by a wrong step number. Only
/// allocation and the caller's own code can throw. One thread at a time
/// @par Accuracy
/// gaps are assumed to be normal in logarithms; with two ranks in a stage, each is compared with the other; a
/// stage in which most ranks are slow looks usual
template <class Report, class Fields>
    requires step_fields_for<Fields, Report>
class step_watch {
    template <class Field, class Otherwise>
    struct value_of {
        using type = Otherwise;
    };
    template <class Field, class Otherwise>
        requires detail::given<Field>
    struct value_of<Field, Otherwise> {
        using type = owned_identifier_t<detail::field_value_t<Field, Report>>;
    };
    static constexpr bool by_arrival = detail::given<decltype(Fields::arrived)>;

  public:
    /// Type of rank names.
    using rank_id = typename value_of<decltype(Fields::rank), int>::type;
    /// Type of node names; the type of rank names if reports have none.
    using node_id = typename value_of<decltype(Fields::node), rank_id>::type;
    /// Type of section names; `int`, with value 0, if reports have none.
    using section_id = typename value_of<decltype(Fields::section), int>::type;
    /// Type of stage names; `int`, with value 0, if reports have none.
    using stage_id = typename value_of<decltype(Fields::stage), int>::type;
    /// A named rank.
    using straggler_type = straggler<rank_id, node_id, section_id>;

    /// @param fields maps the members of a report
    /// @param options when a rank is named
    /// @pre `least_slowdown >= 1`, `windows_per_error >= 1`
    explicit step_watch(Fields fields, step_watch_options options = {})
        : fields_(std::move(fields)),
          options_(options),
          core_(options.least_slowdown, options.windows_per_error, by_arrival) {
        STRAGGLE_EXPECTS(options.least_slowdown >= 1 && options.windows_per_error >= 1);
    }

    /// Adds a report.
    /// @return whether it is used; if not, `counts` has the reason. If later the step turns out to be one
    /// that other ranks do not reach, it is counted as rejected after all
    bool observe(Report const& report) {
        ++counts_.seen;
        std::uint64_t const dropped = core_.dropped();
        std::optional<step_rejection> const why = take(report);
        if (why)
            ++counts_.rejected[*why];
        else
            ++counts_.used;
        counts_.used -= core_.dropped() - dropped;
        counts_.rejected[step_rejection::ahead] = core_.dropped();
        counts_.steps = core_.steps();
        return !why;
    }
    /// Declares that all reports of this step, and of earlier ones, have arrived.
    void close(std::int64_t step) {
        core_.close_to(step);
        counts_.steps = core_.steps();
    }
    /// The gang returned to a checkpoint: steps already reported will be reported again. Keeps what is known
    /// about ranks.
    void restart() { core_.restart(); }

    /// The ranks that are provably slow, the most costly first. Valid until the next call.
    [[nodiscard]] std::span<straggler_type const> stragglers() {
        found_.clear();
        slow_.clear();
        for (std::uint32_t r = 0; r < core_.ranks().size(); ++r)
            if (core_.is_slow(r)) slow_.push_back(r);
        std::sort(slow_.begin(), slow_.end(), [this](std::uint32_t a, std::uint32_t b) {
            double const x = core_.ranks()[a].evidence.saved().mean,
                         y = core_.ranks()[b].evidence.saved().mean;
            return x > y || (!(y > x) && a < b);
        });
        for (std::uint32_t const r : slow_) found_.push_back(describe(r));
        return found_;
    }
    /// How slow a rank is since it last looked normal; unknown for one that looks normal, and for any before
    /// its fourth step.
    [[nodiscard]] slowdown slowdown_of(rank_id const& rank) const {
        std::uint32_t const r = ranks_.find(rank);
        return r < core_.ranks().size() ? core_.slow(r) : slowdown{};
    }
    /// The loss due to stragglers since the first step.
    [[nodiscard]] step_loss loss() const noexcept {
        detail::gang_sums const& s = core_.sums();
        if (!(s.steps > 0)) return {};
        double const lost = s.seconds - s.ideal;
        double named = 0;
        for (std::uint32_t r = 0; r < core_.ranks().size(); ++r)
            if (core_.is_slow(r)) named = (std::max)(named, s.rank[r]);
        return {s.steps, s.seconds / s.steps, s.ideal / s.steps,
                lost > 0 ? (std::min)((std::max)(1 - named / lost, 0.0), 1.0) : 0.0};
    }
    /// The share of the loss explained by one rank: the loss that would remain if only that rank had worked
    /// as it did. Shares of several ranks may sum to more than 1.
    [[nodiscard]] double share_of_rank(rank_id const& rank) const {
        return share(core_.sums().rank, ranks_.find(rank));
    }
    /// The same for all ranks of a node: that of the rank that explains most.
    [[nodiscard]] double share_of_node(node_id const& node) const {
        double most = 0;
        if (std::uint32_t const n = find_node(node); n != interner<node_id>::none)
            for (std::uint32_t r = 0; r < core_.ranks().size(); ++r)
                if (core_.ranks()[r].node == n) most = (std::max)(most, share(core_.sums().rank, r));
        return most;
    }
    /// The same for a section.
    [[nodiscard]] double share_of_section(section_id const& section) const {
        return share(core_.sums().section, sections_.find(section));
    }
    /// The same for a stage.
    [[nodiscard]] double share_of_stage(stage_id const& stage) const {
        return share(core_.sums().stage, stages_.find(stage));
    }

    /// Whether to restart the gang with a different node in place of a rank's. Gangs get no copies, since the
    /// whole gang would have to run twice.
    ///
    /// The gain is expected as long as the rank stays slow. It may recover by itself, so a replacement is
    /// worth it only once the rank has cost half as much. A rank that moves while it is slow was replaced:
    /// the next one then has to cost more, by twice what that one had cost. If it is slow on the new node,
    /// too, its data are at fault, and a further replacement gains nothing.
    /// @param rank one of `stragglers()`; any other gains nothing
    /// @param cost of a restart, and the remaining steps of the job
    [[nodiscard]] replacement replace(rank_id const& rank, replacement_cost const& cost) const {
        replacement out;
        std::uint32_t const r = ranks_.find(rank);
        if (r >= core_.ranks().size() || !core_.is_slow(r)) return out;
        detail::rank_evidence const& evidence = core_.ranks()[r].evidence;
        if (evidence.has_moved()) return out; // it is slow wherever it runs
        detail::fading_moments const& saved = evidence.saved();
        auto const ci = saved.interval(core_.tail(), 0);
        double const paid = cost.restart + cost.since_checkpoint;
        out.gain_per_step = saved.mean;
        out.gain = saved.mean * cost.steps_left - paid;
        out.low = (std::max)(ci.low, 0.0) * cost.steps_left - paid;
        out.high = ci.high * cost.steps_left - paid;
        out.nodes_waiting = core_.nodes() - 1;
        if (out.gain_per_step > 0) out.pays_after = paid / out.gain_per_step;
        // Rent before buying (ski rental), and learn from purchases.
        bool const lasts = evidence.lost() >= 0.5 * paid + 2 * core_.replaced();
        out.is_worth = out.low > 0 && lasts;
        return out;
    }

    /// What became of all reports.
    [[nodiscard]] step_counts const& counts() const noexcept { return counts_; }

  private:
    using node_table = std::conditional_t<detail::given<decltype(Fields::node)>, interner<node_id>, int>;

    std::optional<step_rejection> take(Report const& report) {
        auto const& step = detail::project(fields_.step, report);
        auto const& name = detail::project(fields_.rank, report);
        if (!detail::is_present(step) || !detail::is_present(name)) return step_rejection::missing_field;
        double took = 0, waited = 0;
        if constexpr (by_arrival) {
            auto const& arrived = detail::project(fields_.arrived, report);
            if (!detail::is_present(arrived)) return step_rejection::missing_field;
            if (!origin_) origin_ = detail::unwrap(arrived);
            took = detail::to_time(detail::unwrap(arrived) - *origin_);
        } else {
            auto const& duration = detail::project(fields_.duration, report);
            if (!detail::is_present(duration)) return step_rejection::missing_field;
            took = detail::to_time(detail::unwrap(duration));
            if constexpr (detail::given<decltype(Fields::waited)>)
                if (auto const& w = detail::project(fields_.waited, report); detail::is_present(w))
                    waited = detail::to_time(detail::unwrap(w));
            if (!(took >= waited && waited >= 0)) return step_rejection::bad_time;
        }
        if (!detail::is_finite(took)) return step_rejection::bad_time;
        std::uint32_t const rank = ranks_.insert(detail::unwrap(name));
        std::uint32_t const node = node_of(report, rank), stage = label(stages_, fields_.stage, report),
                            section = label(sections_, fields_.section, report);
        if (rank >= options_.max_ranks || node >= options_.max_ranks || stage >= options_.max_stages ||
            section >= detail::gang_core::max_sections) {
            forget_beyond(rank);
            return step_rejection::no_room;
        }
        auto const at = static_cast<std::int64_t>(detail::unwrap(step));
        if (!core_.report(at, {rank, node, stage}, section, took, waited)) return step_rejection::late;
        return std::nullopt;
    }
    // Drops names beyond the limits.
    void forget_beyond(std::uint32_t rank) {
        if (rank >= options_.max_ranks) ranks_.truncate(options_.max_ranks);
        if constexpr (detail::given<decltype(Fields::node)>)
            if (nodes_.bound() > options_.max_ranks) nodes_.truncate(options_.max_ranks);
        if (stages_.bound() > options_.max_stages) stages_.truncate(options_.max_stages);
        if (sections_.bound() > detail::gang_core::max_sections)
            sections_.truncate(detail::gang_core::max_sections);
    }
    [[nodiscard]] std::uint32_t node_of(Report const& report, std::uint32_t rank) {
        if constexpr (detail::given<decltype(Fields::node)>) {
            auto const& node = detail::project(fields_.node, report);
            if (detail::is_present(node)) return nodes_.insert(detail::unwrap(node));
            std::uint32_t const known =
                rank < core_.ranks().size() ? core_.ranks()[rank].node : detail::gang_core::nowhere;
            return known == detail::gang_core::nowhere ? nodes_.insert(node_id{}) : known;
        } else {
            return rank;
        }
    }
    [[nodiscard]] std::uint32_t find_node(node_id const& node) const {
        if constexpr (detail::given<decltype(Fields::node)>)
            return nodes_.find(node);
        else
            return ranks_.find(node);
    }
    template <class Table, class Field>
    [[nodiscard]] static std::uint32_t label(Table& table, Field const& field, Report const& report) {
        if constexpr (detail::given<Field>) {
            auto const& value = detail::project(field, report);
            if (detail::is_present(value)) return table.insert(detail::unwrap(value));
        }
        return table.insert(typename Table::key_type{});
    }

    [[nodiscard]] straggler_type describe(std::uint32_t r) const {
        auto const& row = core_.ranks()[r];
        std::size_t section = 0;
        for (std::size_t c = 1; c < sections_.bound(); ++c)
            if (row.excess[c] > row.excess[section]) section = c;
        return {ranks_[r],
                name_of_node(row.node),
                sections_[static_cast<std::uint32_t>(section)],
                core_.slow(r),
                row.evidence.since(),
                row.usual / row.best,
                row.evidence.saved().mean,
                whose(r)};
    }
    [[nodiscard]] node_id name_of_node(std::uint32_t node) const {
        if constexpr (detail::given<decltype(Fields::node)>)
            return nodes_[node];
        else
            return ranks_[node];
    }
    [[nodiscard]] fault whose(std::uint32_t r) const {
        if (core_.ranks()[r].evidence.has_moved()) return fault::rank;
        std::size_t others = 0, slow = 0;
        for (std::uint32_t o = 0; o < core_.ranks().size(); ++o)
            if (o != r && core_.ranks()[o].node == core_.ranks()[r].node) {
                ++others;
                if (core_.is_slow(o)) ++slow;
            }
        return others == 0 ? fault::rank_or_node : 2 * slow >= others && slow > 0 ? fault::node : fault::rank;
    }
    [[nodiscard]] double share(std::vector<double> const& sums, std::uint32_t at) const noexcept {
        double const lost = core_.sums().seconds - core_.sums().ideal;
        return at < sums.size() && lost > 0 ? (std::min)(sums[at] / lost, 1.0) : 0.0;
    }

    Fields fields_;
    step_watch_options options_;
    detail::gang_core core_;
    interner<rank_id> ranks_;
    [[no_unique_address]] node_table nodes_{};
    interner<section_id> sections_;
    interner<stage_id> stages_;
    template <class Field>
    struct time_of {
        using type = int;
    };
    template <class Field>
        requires detail::given<Field>
    struct time_of<Field> {
        using type = detail::field_value_t<Field, Report>;
    };
    std::optional<typename time_of<decltype(Fields::arrived)>::type> origin_;
    step_counts counts_;
    std::vector<straggler_type> found_;
    std::vector<std::uint32_t> slow_;
};

/// A watch for reports of a type: `auto watch = step_watch_of<report>(step_fields{...});`
template <class Report, class Fields>
    requires step_fields_for<Fields, Report>
[[nodiscard]] step_watch<Report, Fields> step_watch_of(Fields fields, step_watch_options options = {}) {
    return step_watch<Report, Fields>(std::move(fields), options);
}

} // namespace straggle::gang
