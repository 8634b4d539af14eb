// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/contract.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#if defined(__unix__) || defined(__APPLE__)
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#define STRAGGLE_TEST_CAN_FORK 1
#else
#define STRAGGLE_TEST_CAN_FORK 0
#endif

namespace {

constexpr int checked_half(int x) {
    STRAGGLE_EXPECTS(x % 2 == 0);
    return x / 2;
}
static_assert(checked_half(8) == 4, "a contract that holds may stand in a constant expression");

// A constant expression that breaks its contract is no constant expression; tests/compile_fail has what the
// compiler says about one.
template <int X>
concept has_half = requires { typename std::integral_constant<int, checked_half(X)>; };
static_assert(has_half<2> && !has_half<3>);

int calls = 0;
void count_calls(straggle::base::contract_violation const&) {
    ++calls;
}

struct handler_for_now {
    explicit handler_for_now(straggle::base::contract_handler h)
        : before(straggle::base::set_contract_handler(h)) {}
    ~handler_for_now() { straggle::base::set_contract_handler(before); }
    straggle::base::contract_handler before;
};

TEST_CASE("contract: the handler learns what broke, and where") {
    straggle_test::contract_trap const trap;
    int const line = __LINE__ + 2;
    try {
        STRAGGLE_EXPECTS(1 + 1 == 3);
        FAIL("went on after a broken contract");
    } catch (straggle_test::broken_contract const& broken) {
        CHECK(std::string_view(broken.violation.condition) == "1 + 1 == 3");
        CHECK(std::string_view(broken.violation.file) == __FILE__);
        CHECK(broken.violation.line == line);
    }
}

TEST_CASE("contract: a contract that holds calls nobody and costs nothing") {
    handler_for_now const handler(&count_calls);
    calls = 0;
    CHECK(straggle_test::allocations_during([] { STRAGGLE_EXPECTS(2 > 1); }) == 0);
    CHECK(calls == 0);
}

TEST_CASE("contract: a condition is evaluated once, and may hold commas") {
    int evaluated = 0;
    auto const pair_sum = [&](int a, int b) {
        ++evaluated;
        return a + b;
    };
    STRAGGLE_EXPECTS(pair_sum(1, 2) == 3);
    CHECK(evaluated == 1);
}

TEST_CASE("contract: the condition may be an object that is only explicitly a bool") {
    struct yes {
        constexpr explicit operator bool() const { return true; }
    };
    STRAGGLE_EXPECTS(yes{});
    CHECK(true);
}

TEST_CASE("contract: installing a handler gives the one before back") {
    handler_for_now const outer(nullptr);
    CHECK((straggle::base::set_contract_handler(&count_calls) == nullptr));
    CHECK((straggle::base::set_contract_handler(nullptr) == &count_calls));
    CHECK((straggle::base::set_contract_handler(nullptr) == nullptr));
    static_assert(noexcept(straggle::base::set_contract_handler(nullptr)));
}

#if STRAGGLE_TEST_CAN_FORK
// The signal that ends a child process which does `work`, 0 if none does. Messages go nowhere.
template <class Work>
int signal_of(Work work) {
    pid_t const child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL); // not the handler of the test framework
        work();
        _exit(0);
    }
    int state = 0;
    REQUIRE(waitpid(child, &state, 0) == child);
    return WIFSIGNALED(state) ? WTERMSIG(state) : 0;
}

TEST_CASE("contract: without a handler the program says in one line what broke, and aborts") {
    handler_for_now const none(nullptr);
    int said[2];
    REQUIRE(pipe(said) == 0);
    int const line = __LINE__ + 3;
    CHECK(signal_of([&] {
              dup2(said[1], STDERR_FILENO);
              STRAGGLE_EXPECTS(1 > 2);
          }) == SIGABRT);
    CHECK(signal_of([&] {
              dup2(said[1], STDERR_FILENO);
              STRAGGLE_EXPECTS(true);
          }) == 0);
    char text[512];
    auto const length = read(said[0], text, sizeof text);
    close(said[0]);
    close(said[1]);
    REQUIRE(length > 0);
    CHECK(std::string(text, static_cast<std::size_t>(length)) ==
          __FILE__ ":" + std::to_string(line) + ": straggle: broken contract: 1 > 2\n");
}

TEST_CASE("contract: a handler that returns is called once, then the program aborts") {
    int said[2];
    REQUIRE(pipe(said) == 0);
    static int where = 0;
    where = said[1];
    handler_for_now const handler([](straggle::base::contract_violation const& v) {
        [[maybe_unused]] auto const written = write(where, v.condition, std::strlen(v.condition));
    });
    bool too_far = true;
    CHECK(signal_of([&] {
              STRAGGLE_EXPECTS(!too_far);
              [[maybe_unused]] auto const written = write(where, "went on", 7);
          }) == SIGABRT);
    close(said[1]);
    char text[100] = {};
    CHECK(read(said[0], text, sizeof text - 1) == 8);
    close(said[0]);
    CHECK(std::string_view(text) == "!too_far");
}
#endif

} // namespace
