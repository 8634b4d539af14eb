// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/mitigator.hpp`: the seam between the templates on the caller's records and the
/// loop, which knows only numbers. Nothing of the loop has to be parsed to use it: its functions are defined
/// in `mitigate/detail/mitigation_loop.hpp`, or for the default parts in the compiled library.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/mitigate/copy_rows.hpp>
#include <straggle/mitigate/detail/loop_guard.hpp>
#include <straggle/mitigate/detail/round_facts.hpp>
#include <straggle/mitigate/effect.hpp>
#include <straggle/mitigate/mitigator_options.hpp>
#include <straggle/mitigate/plan.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/cluster_load.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class NodePart, class CopyPart>
class mitigation_loop;

// The caller's `can_run`, with rows instead of records. Refers to the function it is made from.
class can_run_ref {
  public:
    template <class CanRun>
    explicit can_run_ref(CanRun const& can_run) noexcept
        : object_(&can_run), call_([](void const* object, std::uint32_t task, std::uint32_t node) -> bool {
              return (*static_cast<CanRun const*>(object))(task, node);
          }) {}
    bool operator()(std::uint32_t task, std::uint32_t node) const { return call_(object_, task, node); }

  private:
    void const* object_;
    bool (*call_)(void const*, std::uint32_t, std::uint32_t);
};

// Owns a `mitigation_loop`, which has the comments.
template <class NodePart, class CopyPart>
class loop_handle {
  public:
    explicit loop_handle(mitigator_options const& options);
    loop_handle(mitigator_options const& options, NodePart&& node_part, CopyPart&& copy_part);
    loop_handle(loop_handle const&) = delete;
    loop_handle& operator=(loop_handle const&) = delete;
    ~loop_handle();

    [[nodiscard]] loop_guard& guard() noexcept { return *guard_; }
    [[nodiscard]] loop_guard const& guard() const noexcept { return *guard_; }
    [[nodiscard]] NodePart const& nodes() const noexcept;
    [[nodiscard]] CopyPart const& copies() const noexcept;
    [[nodiscard]] bool is_left_alone(std::uint64_t job) const;
    [[nodiscard]] std::uint32_t const* kind_of(std::uint64_t job) const;
    [[nodiscard]] node_state shown(std::uint32_t node) const noexcept;
    [[nodiscard]] slowdown slowdown_of(std::uint32_t node) const noexcept;
    void describe(mitigate::place_row& place) const noexcept;

    bool ended(ended_attempt const& attempt, std::uint32_t kind);
    void finish(std::uint64_t job);
    void forget_node(std::uint32_t node);
    void decide(round_facts const& facts, mitigation_plan& plan, can_run_ref can_run);

    bool is_placed_alone(mitigate::new_task const& task);
    void rank(mitigate::new_task const& task, bool is_alone, std::vector<mitigate::place_row>& places,
              cluster_load const& load, std::vector<mitigate::planned_place>& out);
    void fill(mitigate::new_task const& task, bool is_alone, std::vector<mitigate::place_row>& places,
              cluster_load const& load, std::size_t tasks, std::vector<mitigate::planned_place>& out);

    [[nodiscard]] mitigate::effect effect_of(mitigate::action_kind kind) const noexcept;
    void resume(mitigate::action_kind kind) noexcept;
    void enable(bool is_enabled) noexcept;
    [[nodiscard]] std::uint64_t actions() const noexcept;

    void merge(loop_handle const& other, std::span<std::uint32_t const> node_map, double later);
    void write(byte_writer& out) const;
    // On failure nothing changes.
    [[nodiscard]] status read(byte_reader& in);

  private:
    struct state;

    state* state_; // owned; no smart pointer, whose header takes longer to parse than all of this
    loop_guard* guard_;
};

} // namespace straggle::detail
