// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/published.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"

#include <any>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#define STRAGGLE_TEST_CAN_FORK 1
#else
#define STRAGGLE_TEST_CAN_FORK 0
#endif

namespace {

using straggle::published;
using snapshot_of_text = published<std::string>::snapshot;

// Readers are noexcept and see const values only; a temporary does not give its value away.
static_assert(noexcept(std::declval<published<std::string> const&>().read()));
static_assert(noexcept(std::declval<published<std::string> const&>().version()));
static_assert(std::is_nothrow_destructible_v<published<std::string>>);
static_assert(std::is_nothrow_destructible_v<snapshot_of_text>);
static_assert(std::is_nothrow_default_constructible_v<snapshot_of_text>);
static_assert(std::is_nothrow_move_constructible_v<snapshot_of_text>);
static_assert(std::is_nothrow_move_assignable_v<snapshot_of_text>);
static_assert(!std::is_copy_constructible_v<snapshot_of_text>);
static_assert(!std::is_copy_assignable_v<snapshot_of_text>);
static_assert(!std::is_move_constructible_v<published<std::string>>);
static_assert(!std::is_move_assignable_v<published<std::string>>);
static_assert(std::same_as<decltype(*std::declval<snapshot_of_text&>()), std::string const&>);
static_assert(std::same_as<decltype(std::declval<snapshot_of_text&>().operator->()), std::string const*>);
template <class Snapshot>
concept gives_its_value = requires(Snapshot&& s) { *std::forward<Snapshot>(s); } ||
                          requires(Snapshot&& s) { std::forward<Snapshot>(s).operator->(); };
static_assert(gives_its_value<snapshot_of_text&> && gives_its_value<snapshot_of_text const&>);
static_assert(!gives_its_value<snapshot_of_text> && !gives_its_value<snapshot_of_text const>);

struct without_default {
    explicit without_default(int) {}
};
struct without_copy {
    int value = 0;
    without_copy() = default;
    without_copy(without_copy const&) = delete;
    without_copy& operator=(without_copy const&) = delete;
};
template <class T>
concept can_be_published = requires { typename published<T>; };
static_assert(can_be_published<int> && can_be_published<without_copy>);
static_assert(!can_be_published<without_default> && !can_be_published<int const>);
static_assert(!can_be_published<int&> && !can_be_published<void>);

template <class T, class Argument>
concept can_publish = requires(published<T>& p, Argument&& a) { p.publish(std::forward<Argument>(a)); };
static_assert(can_publish<std::string, char const*> && !can_publish<std::string, std::vector<int>>);
static_assert(can_publish<without_copy, void (*)(without_copy&)>);
static_assert(!can_publish<without_copy, without_copy&> && !can_publish<without_copy, void (*)()>);

TEST_CASE("published: begins with a default constructed value") {
    published<int> number;
    published<std::string> text;
    CHECK(number.version() == 0);
    auto const now = number.read();
    REQUIRE(now);
    CHECK(*now == 0);
    CHECK(now.version() == 0);
    auto const words = text.read();
    CHECK(words->empty());
}

TEST_CASE("published: the newest value is read, by copy or made in place") {
    published<std::string> latest;
    latest.publish("one");
    CHECK(latest.version() == 1);
    {
        auto const now = latest.read();
        CHECK(*now == "one");
        CHECK(now.version() == 1);
    }
    latest.publish([](std::string& slot) { slot = "two"; });
    CHECK(latest.version() == 2);
    auto const now = latest.read();
    CHECK(*now == "two");
    CHECK(now->size() == 3);
    CHECK(now.version() == 2);
    latest.publish(*now); // into another slot
    auto const again = latest.read();
    CHECK(*again == "two");
    CHECK(again.version() == 3);
    CHECK(&*again != &*now);
}

TEST_CASE("published: a value that could be called is a value") {
    struct callable_with_itself {
        int value = 0;
        void operator()(callable_with_itself& other) const { other.value = -1; }
    };
    published<callable_with_itself> latest;
    callable_with_itself seven{7};
    latest.publish(seven);
    auto const now = latest.read();
    CHECK(now->value == 7);
    // And what may be either is a fill.
    published<std::any> anything;
    anything.publish([](std::any& slot) { slot = 5; });
    auto const five = anything.read();
    CHECK(std::any_cast<int>(*five) == 5);
}

TEST_CASE("published: a type that cannot be copied is made in place") {
    published<without_copy> latest;
    latest.publish([](without_copy& slot) {
        slot.value = 3;
        return slot.value; // nobody asks for it
    });
    auto const now = latest.read();
    CHECK(now->value == 3);
}

TEST_CASE("published: a reader keeps its value while others are published") {
    published<std::vector<int>> latest;
    latest.publish(std::vector<int>(100, 1));
    auto const old = latest.read();
    int const* const where = old->data();
    for (int i = 2; i <= 11; ++i) {
        latest.publish(std::vector<int>(100, i));
        CHECK(*old == std::vector<int>(100, 1));
        CHECK(old->data() == where);
        CHECK(old.version() == 1);
        auto const now = latest.read();
        CHECK(*now == std::vector<int>(100, i));
        CHECK(now.version() == static_cast<std::uint64_t>(i));
    }
}

TEST_CASE("published: a snapshot can be moved, and is empty then") {
    published<int> latest;
    latest.publish(1);
    auto first = latest.read();
    latest.publish(2);
    auto second = latest.read();
    CHECK(*second == 2);

    published<int>::snapshot held;
    CHECK_FALSE(held);
    held = std::move(first);
    CHECK_FALSE(first);
    REQUIRE(held);
    CHECK(*held == 1);
    published<int>::snapshot& same = held;
    held = std::move(same);
    REQUIRE(held);
    CHECK(*held == 1);
    held = std::move(second); // lets the 1 go
    CHECK(*held == 2);
    published<int>::snapshot const made(std::move(held));
    CHECK_FALSE(held);
    CHECK(*made == 2);
    // The slot of the 1 is free again, that of the 2 is held.
    CHECK(straggle_test::allocations_during([&] { latest.publish(3); }) == 0);
    CHECK(*made == 2);
    // The moved-from ones let nothing go a second time: their end would free the slot of the 2.
    {
        auto const gone = std::move(held);
    }
    for (int i = 4; i < 10; ++i) latest.publish(i);
    CHECK(*made == 2);
}

TEST_CASE("published: there are at most two more values than readers") {
    // An int allocates nothing of its own: every allocation is a slot. The first one is made with the whole.
    using straggle_test::allocations_during;
    published<int>* whole = nullptr;
    CHECK(allocations_during([&] { whole = new published<int>; }) == 1 + 1);
    published<int>& latest = *whole;
    CHECK(allocations_during([&] {
              for (int i = 0; i < 100; ++i) latest.publish(i);
          }) == 1);
    {
        std::vector<published<int>::snapshot> held;
        held.reserve(50);
        for (std::size_t readers = 1; readers <= 50; ++readers) {
            std::size_t const added = allocations_during([&] {
                held.push_back(latest.read());
                for (int i = 0; i < 10; ++i) latest.publish(static_cast<int>(readers));
            });
            CHECK(added == 1);
        }
        for (std::size_t i = 1; i < held.size(); ++i) CHECK(*held[i] == static_cast<int>(i));
        // Readers of one value need no more than one of them does.
        std::vector<published<int>::snapshot> crowd(50);
        CHECK(allocations_during([&] {
                  for (auto& reader : crowd) reader = latest.read();
                  for (int i = 0; i < 10; ++i) latest.publish(i);
              }) == 1);
        // A slot that is let go is used again.
        held[20] = {};
        CHECK(allocations_during([&] {
                  held[20] = latest.read();
                  for (int i = 0; i < 10; ++i) latest.publish(i);
              }) == 0);
    }
    CHECK(allocations_during([&] {
              for (int i = 0; i < 1000; ++i) {
                  auto const now = latest.read();
                  latest.publish(*now + 1);
              }
          }) == 0);
    delete whole;
}

TEST_CASE("published: the memory of old values is used again") {
    published<std::vector<int>> latest;
    std::vector<int> value(1000);
    auto const flip = [&] {
        for (int i = 0; i < 20; ++i) {
            value[500] = i;
            latest.publish(value);
            latest.publish([i](std::vector<int>& slot) { slot.assign(1000, i); });
            auto const now = latest.read();
            if ((*now)[500] != i || now->size() != 1000) FAIL("not what was published");
        }
    };
    CHECK(straggle_test::allocations_during(flip) > 0);
    CHECK(straggle_test::allocations_during(flip) == 0);
}

// Refuses to be made or assigned to when told so, then with half of its work done.
struct fragile {
    static inline bool refuse = false;
    static inline bool refuse_to_be_made = false;
    int first = 0;
    int second = 0;
    fragile() {
        if (refuse_to_be_made) throw 1;
    }
    explicit fragile(int v) : first(v), second(v) {}
    fragile(fragile const&) = default;
    fragile& operator=(fragile const& other) {
        first = other.first;
        if (refuse) throw other.first;
        second = other.second;
        return *this;
    }
};

TEST_CASE("published: when a value cannot be written the old one stands") {
    published<fragile> latest;
    auto const stands = [&](int value, std::uint64_t version) {
        auto const now = latest.read();
        CHECK(now->first == value);
        CHECK(now->second == value);
        CHECK(now.version() == version);
        CHECK(latest.version() == version);
    };
    fragile::refuse_to_be_made = true; // there is one slot yet
    CHECK_THROWS_AS(latest.publish(fragile(1)), int);
    fragile::refuse_to_be_made = false;
    stands(0, 0);
    latest.publish(fragile(2));
    stands(2, 1);
    fragile::refuse = true;
    for (int i = 3; i < 8; ++i) CHECK_THROWS_AS(latest.publish(fragile(i)), int);
    stands(2, 1);
    fragile::refuse = false;
    CHECK_THROWS_AS(latest.publish([](fragile& slot) {
        slot.first = 9;
        throw 9;
    }),
                    int);
    stands(2, 1);
    // Nothing is lost by it: neither the writer's turn nor a slot.
    CHECK(straggle_test::allocations_during([&] { latest.publish(fragile(10)); }) == 0);
    stands(10, 2);
}

TEST_CASE("published: an empty snapshot has no value") {
    straggle_test::contract_trap const trap;
    published<std::string>::snapshot nothing;
    CHECK_THROWS_AS((void)*nothing, straggle_test::broken_contract);
    CHECK_THROWS_AS((void)nothing->size(), straggle_test::broken_contract);
    CHECK_THROWS_AS((void)nothing.version(), straggle_test::broken_contract);
}

TEST_CASE("published: two writers at once are a broken contract") {
    published<int> latest;
    {
        straggle_test::contract_trap const trap;
        CHECK_THROWS_AS(latest.publish([&](int& slot) {
            slot = 1;
            latest.publish(2);
        }),
                        straggle_test::broken_contract);
    }
    CHECK(latest.version() == 0);
    // One after the other is fine, also from several threads.
    for (int i = 1; i <= 10; ++i) std::thread([&, i] { latest.publish(i); }).join();
    auto const now = latest.read();
    CHECK(*now == 10);
    CHECK(now.version() == 10);
}

#if STRAGGLE_TEST_CAN_FORK
// The condition that `work` breaks in a process of its own, which must abort; empty if none is broken. A
// destructor is noexcept: an exception in the place of the abort could not leave it.
template <class Work>
std::string broken_by(Work work) {
    int said[2];
    REQUIRE(pipe(said) == 0);
    pid_t const child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL); // not the handler of the test framework
        static int where = 0;
        where = said[1];
        straggle::base::set_contract_handler([](straggle::base::contract_violation const& v) {
            [[maybe_unused]] auto const written = write(where, v.condition, std::strlen(v.condition));
        });
        work();
        _exit(0);
    }
    close(said[1]);
    char text[100] = {};
    CHECK(read(said[0], text, sizeof text - 1) >= 0);
    close(said[0]);
    int state = 0;
    REQUIRE(waitpid(child, &state, 0) == child);
    bool const aborted = WIFSIGNALED(state) && WTERMSIG(state) == SIGABRT;
    CHECK(aborted == (text[0] != '\0'));
    return text;
}

TEST_CASE("published: to go away under a reader is a broken contract") {
    CHECK(broken_by([] {
              published<int>::snapshot outlives;
              published<int> latest;
              outlives = latest.read();
          }) == "!is_read");
    CHECK(broken_by([] { // of an old value
              published<int>::snapshot outlives;
              published<int> latest;
              outlives = latest.read();
              for (int i = 0; i < 3; ++i) latest.publish(i);
          }) == "!is_read");
    CHECK(broken_by([] {
              published<int> latest;
              auto const now = latest.read();
              for (int i = 0; i < 3; ++i) latest.publish(i);
          }) == "");
}
#endif

TEST_CASE("published: all values go away with the whole") {
    struct counted {
        int* alive;
        counted() : alive(&all()) { ++*alive; }
        ~counted() { --*alive; }
        static int& all() {
            static int n = 0;
            return n;
        }
    };
    {
        published<counted> latest;
        auto const one = latest.read();
        latest.publish([](counted&) {});
        auto const two = latest.read();
        latest.publish([](counted&) {});
        CHECK(counted::all() == 3);
    }
    CHECK(counted::all() == 0);
}

// A value that tells whether it is whole: one that was torn, overwritten while it was read or read before it
// was written has differing elements or a wrong sum.
struct page {
    std::uint64_t first = 0;
    std::vector<std::uint64_t> lines;
    std::uint64_t sum = 0;

    void write(std::uint64_t v) {
        first = v;
        lines.resize(24 + v % 8);
        for (std::uint64_t& line : lines) line = v;
        sum = v * lines.size();
    }
    [[nodiscard]] bool is_whole() const {
        std::uint64_t total = 0;
        for (std::uint64_t const line : lines) {
            if (line != first) return false;
            total += line;
        }
        return total == sum;
    }
};

// What a reader saw, told after its thread has ended.
struct reader_report {
    std::uint64_t reads = 0;
    std::uint64_t values = 0; // distinct ones
    std::uint64_t torn = 0;
    std::uint64_t of_another_version = 0;
    std::uint64_t backwards = 0;
    std::uint64_t behind = 0; // older than version() had promised
};

// `keep` values are held at once, the oldest is looked at once more before it goes.
reader_report read_all_the_time(published<page> const& latest, std::atomic<bool> const& done,
                                std::atomic<std::uint64_t>& progress, std::size_t keep) {
    reader_report report;
    std::vector<published<page>::snapshot> held(keep);
    std::uint64_t last = 0;
    bool more = true;
    for (std::size_t at = 0; more; at = (at + 1) % keep) {
        more = !done.load(); // asked before the last read, which has to see the last value
        if (held[at] && !held[at]->is_whole()) ++report.torn;
        std::uint64_t const promised = latest.version();
        held[at] = latest.read();
        auto const& now = held[at];
        ++report.reads;
        if (!now->is_whole()) ++report.torn;
        if (now->first != now.version()) ++report.of_another_version;
        if (now.version() < promised) ++report.behind;
        if (now.version() < last) ++report.backwards;
        if (now.version() != last)
            progress.store(++report.values);
        else
            std::this_thread::yield(); // nothing new: maybe the writer needs the processor
        last = now.version();
    }
    if (last != latest.version()) ++report.behind;
    return report;
}

TEST_CASE("published: readers in other threads see whole values, never an older one after a newer one") {
    constexpr std::uint64_t flips = 200'000, at_most = 10 * flips, values_to_see = 20'000;
    published<page> latest;
    std::atomic<bool> done{false};
    constexpr std::size_t keep[] = {1, 1, 2, 5};
    constexpr std::size_t readers = std::size(keep);
    std::atomic<std::uint64_t> progress[readers] = {};
    reader_report reports[readers];
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < readers; ++r)
        threads.emplace_back([&, r] { reports[r] = read_all_the_time(latest, done, progress[r], keep[r]); });

    // Goes on until every reader has seen many values: where there is one core, threads take turns.
    auto const all_have_seen_enough = [&] {
        for (auto const& p : progress)
            if (p.load() < values_to_see) return false;
        return true;
    };
    page own;
    std::uint64_t v = 0;
    while (v < flips || (v < at_most && !all_have_seen_enough())) {
        ++v;
        if (v % 2 == 0) {
            own.write(v);
            latest.publish(own);
        } else {
            latest.publish([v](page& slot) { slot.write(v); });
        }
        if (v % (v < flips ? 128 : 8) == 0) std::this_thread::yield();
    }
    done.store(true);
    for (std::thread& t : threads) t.join();

    CHECK(latest.version() == v);
    for (reader_report const& r : reports) {
        INFO(v, " flips, ", r.reads, " reads of ", r.values, " values");
        CHECK(r.values >= 2); // how many more is up to the machine and who else is on it
        CHECK(r.torn == 0);
        CHECK(r.of_another_version == 0);
        CHECK(r.backwards == 0);
        CHECK(r.behind == 0);
    }
}

TEST_CASE("published: slots stay few while threads come and go") {
    published<int> latest;
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (int r = 0; r < 4; ++r)
        threads.emplace_back([&] {
            while (!done.load()) {
                auto const now = latest.read();
                if (*now < 0) return;
            }
        });
    // While the writer looks for a free slot, a reader is in one that is not current, or is about to leave
    // one for the current. So at most 4 + 2 slots, one of which is there already.
    std::size_t const before = straggle_test::allocation_count();
    for (int i = 0; i < 100'000; ++i) latest.publish(i);
    CHECK(straggle_test::allocation_count() - before <= 5);
    done.store(true);
    for (std::thread& t : threads) t.join();
}

} // namespace
