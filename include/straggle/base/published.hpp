// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// One thread makes a value anew from time to time, many threads read it all the time: the newest value is
/// handed over without locks. A reader keeps the value it looks at for as long as it likes; nobody waits for
/// anybody.
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

// What different threads write stands at least so far apart. Where a cache line is longer this costs time,
// nothing else.
inline constexpr std::size_t cache_line = 64;

// Gives the writer's turn back however its work ends.
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
/// doi:10.1109/TPDS.2004.8) turned round: not every thread keeps a list of what it reads, but every value a
/// count of who reads it. So no thread has to register, and there are few values: they stand in slots that
/// are used again and live as long as the whole.
///
/// @par Example
/// A writer says `latest.publish(decision)`, a reader `auto const now = latest.read();
/// if (now->avoids(node)) ...`; `examples/threads.cpp` is a whole program.
/// @par Contract
/// any number of readers, of which any may begin and end at any time; never two calls of
/// `publish` at once, also not one within another's `fill` (a broken contract, noticed when they meet).
/// Threads may take turns at writing. All snapshots must be gone before this object is (a broken contract).
/// Not for signal handlers.
/// @par Progress
/// `publish` never waits for a reader: if all other slots are being read it takes a new one.
/// `read` never waits for the writer: it is lock-free and tries again only if a value was published within
/// the few instructions of a try.
/// @par Cost
/// a reader: two atomic increments on a line that the readers of one value share, and two loads; no
/// allocation. `read` and the end of the snapshot took 3.5 ns together where one locked increment takes 2 ns,
/// and 30 ns while a second core did nothing but read or publish: read once per batch of work, or ask
/// `version`, which is one load, whether there is anything new. The writer: what filling costs, two
/// exchanges, and a look at each slot, of which there are at most two more than there have been readers at
/// work at once. A slot takes the size of a `T` and up to 128 bytes more. The first slot is allocated by the
/// constructor, others when all are held: in the steady state none is, and whatever memory a value keeps when
/// it is assigned to is used again.
/// @par Guarantees
/// a reader sees values in the order they were published in, never an older one after a newer
/// one. What readers call is noexcept but for the access to an empty snapshot. Strong exception guarantee for
/// `publish`: if the assignment, the fill or an allocation throws, the old value still stands.
/// @tparam T default constructible; what is const in it must be safe to use by several threads at once, as it
/// is for the standard library's types and this library's
template <std::default_initializable T>
    requires(!std::is_const_v<T> && !std::is_volatile_v<T>)
class published {
    // The count, which readers write, on one line; what they read on others.
    struct slot {
        alignas(detail::cache_line) std::atomic<std::uint32_t> readers{0};
        alignas(detail::cache_line) std::uint64_t version = 0;
        slot* next = this; // a ring; for the writer only
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
    // - Between P and C nobody writes into s: it is current.
    // - Whatever is written into s after C is written after a D that follows C. A comes before B in program
    //   order; B before C, because it read the value that C replaced; C before D in program order. So A is
    //   before D in the one order: D sees a count with this reader in it, which is 0 only if the reader has
    //   counted itself out. It did so by a release, and all later changes of the count are read-modify-writes
    //   and go on with its release sequence: all that it read happens before all that is written after D.
    //
    // It does no harm if s was replaced, written and made current again between the reader's first look at
    // current_ and B (the ABA problem): the first look only says which slot to count oneself into. What the
    // reader relies on is that s is current at B, with the count already up; it then reads the newer value.
    // Nor does it harm to count oneself into a slot that is being written: only the count is touched, and it
    // is always there, for slots are deleted with the whole only. At worst the writer passes over a slot that
    // nobody reads.
  public:
    /// One value, unchanged for as long as this object lives. Like a pointer: may be empty, can be moved but
    /// not copied, also to another thread.
    ///
    /// Asking a temporary for its value does not compile: name the snapshot first, it must outlive what is
    /// read from it.
    class snapshot {
      public:
        /// Empty.
        snapshot() noexcept = default;
        /// Leaves the other one empty.
        snapshot(snapshot&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
        /// Lets its own value go and leaves the other one empty.
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
        /// How many values had been published when this one was: 0 is the one from the start. @pre not empty
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

    /// The newest value, for as long as the snapshot lives. Any thread; at most 2^32 - 1 snapshots at once.
    [[nodiscard]] snapshot read() const noexcept {
        for (;;) {
            // Looked at anew each time: so while the writer looks for a free slot, a reader that comes late
            // is in one that is not current at most once.
            slot* const s = current_.load(std::memory_order_acquire);
            s->readers.fetch_add(1, std::memory_order_seq_cst);                     // A
            if (current_.load(std::memory_order_seq_cst) == s) return snapshot(*s); // B
            leave(*s);
        }
    }

    /// How many values have been published. Any thread.
    /// @return a number that `read` afterwards does not fall short of: a held snapshot whose version is not
    /// less than it is the newest
    /// @par Cost
    /// one load of a line that nobody writes but `publish`
    [[nodiscard]] std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }

    /// Replaces the value by a copy. The writer only.
    /// @param value is copy assigned to some older value, whose memory is used again that way
    void publish(T const& value)
        requires std::is_copy_assignable_v<T>
    {
        publish([&value](T& to) { to = value; });
    }

    /// Replaces the value by one that is made in place. The writer only.
    /// @param fill a callable that is given a `T&` once. It finds there an older value or `T{}`, no matter
    /// which, or what a fill that threw has left; it has to overwrite all of it. Swapping with a value of the
    /// writer's own keeps the memory of both.
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

    // The slot that has not been current for longest, of those without readers.
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
