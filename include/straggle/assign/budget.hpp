// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Budgets: how many copies a cluster can bear, whatever each of them promises. Budgets compose; a copy is
/// launched only if every one of them admits it, and a straggler that gets none is told who refused it.
#pragma once

#include <straggle/core/contract.hpp>
#include <straggle/core/finite.hpp>
#include <straggle/core/token_bucket.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace straggle {

/// The cluster at the moment of a decision, as budgets see it. Each budget says which of these it reads. What
/// is not told is 0, and makes a budget that needs it refuse: nobody is guarded by a number that is missing.
struct cluster_load {
    double now = 0;            ///< the caller's clock, in any unit
    std::uint64_t started = 0; ///< tasks started ever, copies not counted; a number that only grows
    std::uint64_t running = 0; ///< running tasks, each once, however many attempts of it run
    std::uint64_t suspects =
        0;                    ///< of those, how many a detector suspects; at least the stragglers asked about
    std::uint64_t slots = 0;  ///< of the cluster
    std::uint64_t copies = 0; ///< running attempts beyond the first of each task
    bool tasks_wait = true;   ///< normal tasks wait for slots; read by a `reservation`
};

/// A copy somebody would like to launch.
struct backup_request {
    std::uint32_t straggler = 0; ///< its place among the stragglers
    /// Attempts of the task that run now, of those on nodes that are not healthy only one; 0: it does not run
    /// at all.
    std::uint32_t attempts = 1;
};

/// A limit on copies. Per decision `begin(load, stragglers)` is called once with the cluster's load and the
/// number of stragglers asked about; then `admits(request)`, maybe more than once for each, and
/// `take(request)` for each copy that is launched. To take must not make room: what is refused stays refused
/// until the next decision. `name` stands in reports.
template <class Budget>
concept copy_budget = std::move_constructible<Budget> &&
                      requires(Budget& budget, cluster_load const& load, backup_request const& request) {
                          budget.begin(load, std::size_t{});
                          { budget.admits(request) } -> std::same_as<bool>;
                          budget.take(request);
                          { Budget::name } -> std::convertible_to<std::string_view>;
                          requires !std::string_view(Budget::name).empty(); // it stands for "not refused"
                      };

/// Admits everything; names the wish for no budget at all.
struct no_budget {
    static constexpr std::string_view name = "no_budget";
    constexpr void begin(cluster_load const&, std::size_t) noexcept {}
    [[nodiscard]] constexpr bool admits(backup_request const&) const noexcept { return true; }
    constexpr void take(backup_request const&) noexcept {}
};

/// A budget that is there or not, as a configuration says at run time.
template <copy_budget Budget>
class optional_budget {
  public:
    static constexpr std::string_view name = Budget::name;

    /// @param budget nothing: everything is admitted
    explicit constexpr optional_budget(std::optional<Budget> budget = std::nullopt)
        : budget_(std::move(budget)) {}

    constexpr void begin(cluster_load const& load, std::size_t stragglers) {
        if (budget_) budget_->begin(load, stragglers);
    }
    [[nodiscard]] constexpr bool admits(backup_request const& request) {
        return !budget_ || budget_->admits(request);
    }
    constexpr void take(backup_request const& request) {
        if (budget_) budget_->take(request);
    }

  private:
    std::optional<Budget> budget_;
};

/// At most so many copies of a task at a time, beside the first attempt. The default budget of the library,
/// with one, which is also what Hadoop and Spark allow. A task that does not run at all may start once more.
/// Reads the attempts of the task only.
class copies_per_task {
  public:
    static constexpr std::string_view name = "copies_per_task";
    /// @param most copies at a time
    explicit constexpr copies_per_task(std::uint32_t most = 1) noexcept : most_(most) {}

    constexpr void begin(cluster_load const&, std::size_t) noexcept {}
    [[nodiscard]] constexpr bool admits(backup_request const& r) const noexcept {
        return r.attempts <= most_;
    }
    constexpr void take(backup_request const&) noexcept {}

  private:
    std::uint32_t most_;
};

/// Copies take at most a fraction of all slots, those that run already included. Reads `slots` and `copies`.
/// Source: the SpeculativeCap of LATE (Zaharia et al. 2008), 10 % of the slots.
class share_of_slots {
  public:
    static constexpr std::string_view name = "share_of_slots";
    /// @pre `fraction` is in [0, 1]
    explicit constexpr share_of_slots(double fraction = 0.1) : fraction_(fraction) {
        STRAGGLE_EXPECTS(fraction >= 0.0 && fraction <= 1.0);
    }

    constexpr void begin(cluster_load const& load, std::size_t) noexcept {
        limit_ = fraction_ * static_cast<double>(load.slots);
        copies_ = static_cast<double>(load.copies);
    }
    [[nodiscard]] constexpr bool admits(backup_request const&) const noexcept {
        return copies_ + 1 <= limit_ + 1e-9 * (limit_ + 1); // 0.1 * 30 is 3
    }
    constexpr void take(backup_request const&) noexcept { copies_ += 1; }

  private:
    double fraction_;
    double limit_ = 0;
    double copies_ = 0;
};

/// How fast an `extra_load` bucket fills, and what it holds.
struct extra_load_limits {
    double per_task =
        0.05;            ///< copies for each task started: 0.05 is 5 % more attempts than tasks; at least 0
    double per_time = 0; ///< copies for each unit of the clock; at least 0
    double burst = 10;   ///< copies at once, after a long time without; at least 1
};

/// Limits how much load copies add in the long run: a bucket of tokens, one for each copy, refilled by the
/// tasks that start and the time that passes. It is full at first. A clock or a count that goes backwards, or
/// is no number, adds nothing. Reads `started` and `now`.
///
/// Source: the retry budget of Finagle, and the limit on hedged requests of Dean and Barroso, The tail at
/// scale (2013). A copy costs one token however long it runs: so the best copies a limit allows can be found
/// exactly.
class extra_load {
  public:
    static constexpr std::string_view name = "extra_load";
    /// @pre the limits are in their ranges, and finite
    explicit constexpr extra_load(extra_load_limits limits = {}) : limits_(limits), bucket_(limits.burst) {
        STRAGGLE_EXPECTS(limits.per_task >= 0.0 && detail::is_finite(limits.per_task));
        STRAGGLE_EXPECTS(limits.per_time >= 0.0 && detail::is_finite(limits.per_time));
        STRAGGLE_EXPECTS(limits.burst >= 1.0 && detail::is_finite(limits.burst));
    }

    constexpr void begin(cluster_load const& load, std::size_t) noexcept {
        if (begun_ && load.started > started_)
            bucket_.fill(limits_.per_task * static_cast<double>(load.started - started_));
        if (begun_ && detail::is_finite(load.now)) bucket_.fill(limits_.per_time * (load.now - now_));
        started_ = load.started;
        if (detail::is_finite(load.now)) now_ = load.now;
        begun_ = true;
    }
    [[nodiscard]] constexpr bool admits(backup_request const&) const noexcept { return bucket_.has_one(); }
    constexpr void take(backup_request const&) noexcept { bucket_.take_one(); }

  private:
    extra_load_limits limits_;
    detail::token_bucket bucket_;
    double now_ = 0;
    std::uint64_t started_ = 0;
    bool begun_ = false;
};

/// Admits nobody when too many running tasks are suspects: then not the tasks are slow, but what they are
/// compared with is wrong, or the whole cluster is slow, and copies would make it slower. Reads `running` and
/// `suspects`.
class storm_guard {
  public:
    static constexpr std::string_view name = "storm_guard";
    /// @param above with a larger share of suspects among the running tasks nobody is admitted
    /// @pre `above` is in [0, 1]
    explicit constexpr storm_guard(double above = 0.3) : above_(above) {
        STRAGGLE_EXPECTS(above >= 0.0 && above <= 1.0);
    }

    constexpr void begin(cluster_load const& load, std::size_t stragglers) noexcept {
        double const asked = static_cast<double>(stragglers), told = static_cast<double>(load.suspects);
        double const limit = above_ * static_cast<double>(load.running);
        storm_ = !((asked > told ? asked : told) <= limit + 1e-9 * (limit + 1));
    }
    [[nodiscard]] constexpr bool admits(backup_request const&) const noexcept { return !storm_; }
    constexpr void take(backup_request const&) noexcept {}

    /// Whether too many were suspects at the last decision.
    [[nodiscard]] constexpr bool storm() const noexcept { return storm_; }

  private:
    double above_;
    bool storm_ = false;
};

namespace detail {

// Several budgets as one.
template <class... Budgets>
class budget_row {
  public:
    static constexpr std::size_t none = sizeof...(Budgets); // index of no budget
    static constexpr std::array<std::string_view, sizeof...(Budgets)> names{
        std::string_view(Budgets::name)...};

    constexpr budget_row()
        requires(std::default_initializable<Budgets> && ...)
    = default;
    explicit constexpr budget_row(Budgets... budgets)
        requires(sizeof...(Budgets) > 0)
        : budgets_(std::move(budgets)...) {}

    constexpr void begin(cluster_load const& load, std::size_t stragglers) {
        std::apply([&](auto&... budget) { (budget.begin(load, stragglers), ...); }, budgets_);
    }
    // The first that does not admit the copy.
    [[nodiscard]] constexpr std::size_t objection(backup_request const& request) {
        std::size_t by = 0;
        std::apply([&](auto&... budget) { (void)((budget.admits(request) && (++by, true)) && ...); },
                   budgets_);
        return by;
    }
    constexpr void take(backup_request const& request) {
        std::apply([&](auto&... budget) { (budget.take(request), ...); }, budgets_);
    }
    template <std::size_t Place>
    [[nodiscard]] constexpr auto const& get() const noexcept {
        return std::get<Place>(budgets_);
    }

  private:
    [[no_unique_address]] std::tuple<Budgets...> budgets_;
};

} // namespace detail
} // namespace straggle
