// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The state that survives the process: a snapshot, and a journal of everything that came after it. A block
/// of lines is in the journal before it is answered.
#pragma once

#include "posix.hpp"
#include "watch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace straggle_watch {

/// How far a file has been read.
struct file_position {
    std::uint64_t device = 0, inode = 0, offset = 0, line = 1;
};

/// Simultaneous input: a block of lines, a line that was too long, or the timer.
struct journal_entry {
    enum class kind : std::uint8_t { lines, too_long, timer };
    kind is = kind::lines;
    arrival when{};
    std::uint64_t first_line = 0;
    file_position position{}; ///< after it
    std::string_view text{};
};

/// Applies an entry to the watch.
std::uint64_t apply(watch& to, journal_entry const& entry, answers& out);

/// A folder `DIR` with `snapshot-N` and `journal-N`: the journal begins where the snapshot ends.
///
/// @par Guarantees one process at a time; whenever the process dies, the restored state is the one after one
/// of the last entries. If the machine itself dies, `sync` bounds the loss of what the system writes late
class state_folder {
  public:
    /// Takes the folder, created if there is none; a `failure` if another process has it.
    explicit state_folder(std::string folder);

    /// The contents of the folder, or a new watch. Damaged files are set aside, and named on standard error.
    [[nodiscard]] std::unique_ptr<watch> load(watch_options const& options);
    [[nodiscard]] file_position const& position() const { return position_; }
    /// Who this decider is: drawn once for the folder.
    [[nodiscard]] std::uint64_t identity();

    void append(journal_entry const& entry);
    /// Makes sure that everything appended is on the disk.
    void sync();
    /// Begins a new snapshot and journal.
    void snapshot(watch const& of);
    [[nodiscard]] std::uint64_t journal_bytes() const { return journal_bytes_; }
    /// Number of failed writes.
    [[nodiscard]] std::uint64_t faults() const { return faults_; }

  private:
    [[nodiscard]] std::string name(char const* what, std::uint64_t number) const;
    [[nodiscard]] std::unique_ptr<watch> load_snapshot(watch_options const& options, std::uint64_t number);
    void replay(watch& to, std::uint64_t number);
    void set_aside(std::string const& file, std::string const& why);
    [[nodiscard]] bool open_journal();
    void complain(std::string const& file);

    std::string folder_;
    descriptor lock_, self_, journal_;
    file_position position_{};
    std::vector<std::byte> entry_; // the last one, kept for its memory
    std::uint64_t number_ = 0, journal_bytes_ = 0, faults_ = 0;
    bool is_dirty_ = false, is_broken_ = false;
};

} // namespace straggle_watch
