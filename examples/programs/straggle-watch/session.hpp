// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The watch and its surroundings: state, lease, log, metrics. All inputs pass their lines to it.
#pragma once

#include "lease_file.hpp"
#include "options.hpp"
#include "posix.hpp"
#include "state_folder.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace straggle_watch {

class session {
  public:
    explicit session(options const& o);

    /// Processes an entry: first in the journal, then in the watch. @return the number of its lines
    std::uint64_t take(journal_entry entry, answers& out);
    /// Does what is due: the timer, syncing the journal, a snapshot, metrics. @return whether `out` has news
    bool tick(answers& out);
    /// Seconds until `tick` is due.
    [[nodiscard]] double next_tick() const;

    [[nodiscard]] std::string hello();
    [[nodiscard]] file_position position() const { return state_ ? state_->position() : file_position{}; }
    void reopen_log();
    /// Takes the last snapshot, and returns the lease.
    void finish();

    std::uint64_t connections = 0; ///< open now
    std::uint64_t refused = 0;     ///< of other users
    std::uint64_t dropped = 0;     ///< did not read their answers

  private:
    [[nodiscard]] bool is_decider();
    void log(std::string_view text);
    void write_metrics();

    options options_;
    std::unique_ptr<state_folder> state_;
    std::unique_ptr<watch> watch_;
    std::unique_ptr<lease_file> lease_;
    descriptor log_;
    double next_timer_ = 0, next_sync_ = 0, next_snapshot_ = 0, next_metrics_ = 0; // by the steady clock
    std::uint64_t log_faults_ = 0;
    bool metrics_failed_ = false;
};

} // namespace straggle_watch
