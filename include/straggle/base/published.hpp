// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// One thread replaces a value from time to time, many threads read it continually: the newest value is
/// passed on without locks. A reader keeps the value it reads for as long as it likes; no thread waits for
/// another.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::detail {

// Minimum distance between data written by different threads. On machines with longer cache lines this only
// costs time.
inline constexpr std::size_t cache_line = 64;

// Ends the writer's turn however its work ends.
struct end_of_turn {
    std::atomic<bool>& writing;
    ~end_of_turn() { writing.store(false, std::memory_order_release); }
};

template <class Fill, class T>
concept fills =
    !std::same_as<std::remove_cvref_t<Fill>, T> && requires(Fill& fill, T& value) { fill(value); };

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI {

/// The newest value of something: one writer replaces it, any number of readers read it, without locks.
///
/// Source: hazard pointers (M. M. Michael, IEEE Transactions on Parallel and Distributed Systems 15 (2004),
/// doi:10.1109/TPDS.2004.8), inverted: instead of a list of values per reading thread, there is a count of
/// readers per value. So threads need not register, and there are few values: they live in slots that are
/// reused for the lifetime of the object.
///
/// @par Example
/// A writer says `latest.publish(decision)`, a reader `auto const now = latest.read();
/// if (now->avoids(node)) ...`; `examples/threads.cpp` is a whole program.
/// @par Contract
/// any number of readers, which may start and stop at any time; never two concurrent calls of `publish`, nor
/// one within another's `fill` (a contract violation, detected when they meet). Threads may take turns at
/// writing. All snapshots must be gone before this object is destroyed (otherwise a contract violation). Not
/// for signal handlers.
/// @par Progress
/// `publish` never waits for a reader: if all other slots are being read, it allocates a new one. `read`
/// never waits for the writer: it is lock-free and retries only if a value was published within the few
/// instructions of an attempt.
/// @par Cost
/// a reader: two atomic increments on a line shared by the readers of one value, and two loads; no
/// allocation. `read` and the end of the snapshot took 3.5 ns together where one locked increment takes 2 ns,
/// and 30 ns while a second core did nothing but read or publish: read once per batch of work, or check
/// `version`, a single load, for news. The writer: the cost of filling, two exchanges, and a check of each
/// slot; there are at most two more slots than there have been simultaneous readers. A slot takes the size of
/// a `T` and up to 128 bytes more. The constructor allocates the first slot, and `publish` another if all are
/// held: none in the steady state, and a value's own memory is reused when it is assigned to.
/// @par Guarantees
/// a reader sees values in the order of their publication, never an older one after a newer one. The readers'
/// functions are noexcept except for access to an empty snapshot. Strong exception guarantee for `publish`:
/// if the assignment, the fill or an allocation throws, the old value still stands.
/// @tparam T default constructible; its const operations must be safe to use from several threads at once, as
/// in the standard library and this library
template <std::default_initializable T>
    requires(!std::is_const_v<T> && !std::is_volatile_v<T>)
class published {
    // The count, which readers write, on its own line; what they read on others.
    struct slot {
        alignas(detail::cache_line) std::atomic<std::uint32_t> readers{0};
        alignas(detail::cache_line) std::uint64_t version = 0;
        slot* next = this; // a ring; used by the writer only
        T value{};
    };

    // Why a slot that is read is never written.
    //
    // A reader counts itself into a slot s (A) and then finds that s is still current (B), else it counts
    // itself out again and has read nothing. The writer makes another slot current (C), and later writes into
    // s only if it found no reader there (D). All of A, B, C, D are seq_cst, so that all threads agree on one
    // order of them. Let B read what some store P of s into current_ wrote, and let C be the next store into
    // current_; it is of another slot, because the writer never takes the current one.
    //
    // - What was written into s before P happens before B, so the reader sees all of it.
    // - Between P and C the writer leaves s alone: it is current.
    // - Whatever is written into s after C is written after a D that follows C. A comes before B in program
    //   order; B before C, because it read the value that C replaced; C before D in program order. So A is
    //   before D in the one order: D sees a count with this reader in it, which is 0 only if the reader has
    //   counted itself out. It did so by a release, and all later changes of the count are read-modify-writes
    //   and continue its release sequence: all that it read happens before all that is written after D.
    //
    // It does no harm if s was replaced, written and made current again between the reader's first look at
    // current_ and B (the ABA problem): the first look only says which slot to count oneself into. What the
    // reader relies on is that s is current at B, with the count already up; it then reads the newer value.
    // Nor is it harmful to count oneself into a slot that is being written: only the count is touched, and it
    // always exists, because slots are deleted only with the whole object. At worst the writer passes over a
    // slot without readers.
  public:
    /// One value, unchanged for as long as this object lives. Like a pointer: may be empty, can be moved
    /// (also to another thread) but not copied.
    ///
    /// Asking a temporary for its value does not compile: name the snapshot first, because it must outlive
    /// what is read from it.
    class snapshot {
      public:
        /// Empty.
        snapshot() noexcept = default;
        /// Leaves the source empty.
        snapshot(snapshot&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
        /// Releases its own value and leaves the source empty.
        snapshot& operator=(snapshot&& other) noexcept {
            snapshot taken(std::move(other));
            std::swap(slot_, taken.slot_);
            return *this;
        }
        ~snapshot() {
            if (slot_ != nullptr) leave(*slot_);
        }

        /// True unless it is empty.
        explicit operator bool() const noexcept { return slot_ != nullptr; }
        /// The value. @pre not empty
        [[nodiscard]] T const& operator*() const& { return held().value; }
        /// Access to a member of the value. @pre not empty
        [[nodiscard]] T const* operator->() const& { return &held().value; }
        void operator*() const&& = delete;
        void operator->() const&& = delete;
        /// Number of values published before this one: 0 is the initial value. @pre not empty
        [[nodiscard]] std::uint64_t version() const { return held().version; }

      private:
        friend published;
        explicit snapshot(slot& s) noexcept : slot_(&s) {}
        [[nodiscard]] slot const& held() const {
            bool const is_empty = slot_ == nullptr;
            STRAGGLE_EXPECTS(!is_empty);
            return *slot_;
        }

        slot* slot_ = nullptr;
    };

    /// Publishes a `T{}` as version 0.
    published() : current_(new slot) {}
    published(published const&) = delete;
    published& operator=(published const&) = delete;
    /// @pre no snapshot is left
    ~published() {
        slot* const first = current_.load(std::memory_order_relaxed);
        slot* s = first;
        do {
            bool const is_read = s->readers.load(std::memory_order_acquire) != 0;
            STRAGGLE_EXPECTS(!is_read);
            s = s->next;
        } while (s != first);
        do {
            delete std::exchange(s, s->next);
        } while (s != first);
    }

    /// The newest value, held for as long as the snapshot lives. Any thread; at most 2^32 - 1 snapshots at
    /// once.
    [[nodiscard]] snapshot read() const noexcept {
        for (;;) {
            // Reloaded on each attempt: so while the writer looks for a free slot, a late reader occupies a
            // slot that is not current at most once.
            slot* const s = current_.load(std::memory_order_acquire);
            s->readers.fetch_add(1, std::memory_order_seq_cst);                     // A
            if (current_.load(std::memory_order_seq_cst) == s) return snapshot(*s); // B
            leave(*s);
        }
    }

    /// Number of values published so far. Any thread.
    /// @return a lower bound for the version of later reads: a held snapshot with at least this version is
    /// the newest
    /// @par Cost
    /// one load from a line that only `publish` writes
    [[nodiscard]] std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }

    /// Replaces the value with a copy. The writer only.
    /// @param value copy assigned to an older value, whose memory is thereby reused
    void publish(T const& value)
        requires std::is_copy_assignable_v<T>
    {
        publish([&value](T& to) { to = value; });
    }

    /// Replaces the value with one built in place. The writer only.
    /// @param fill a callable that gets a `T&` once: an unspecified older value, a `T{}`, or the remains of a
    /// fill that threw; it must overwrite all of it. Swapping with a value of the writer keeps the memory of
    /// both.
    template <detail::fills<T> Fill>
    void publish(Fill&& fill) {
        bool const has_another_writer = writing_.exchange(true, std::memory_order_acquire);
        STRAGGLE_EXPECTS(!has_another_writer);
        detail::end_of_turn const end{writing_};
        slot& s = free_slot();
        static_cast<void>(fill(s.value));
        s.version = version_.load(std::memory_order_relaxed) + 1;
        current_.store(&s, std::memory_order_seq_cst); // C
        version_.store(s.version, std::memory_order_release);
    }

  private:
    static void leave(slot& s) noexcept { s.readers.fetch_sub(1, std::memory_order_release); }

    // The slot without readers that has not been current for longest.
    slot& free_slot() {
        slot* const current = current_.load(std::memory_order_relaxed); // the writer's own last store
        for (slot* s = current->next; s != current; s = s->next)
            if (s->readers.load(std::memory_order_seq_cst) == 0) return *s; // D
        slot* const added = new slot;
        added->next = current->next;
        current->next = added;
        return *added;
    }

    alignas(detail::cache_line) std::atomic<slot*> current_;
    std::atomic<std::uint64_t> version_{0};
    alignas(detail::cache_line) std::atomic<bool> writing_{false};
};

} // namespace straggle
