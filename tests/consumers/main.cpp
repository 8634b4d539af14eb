// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What every consumer builds: the headers are the ones meant, and they compute.
#include <straggle/straggle.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#ifdef EXPECTED_CPLUSPLUS
static_assert(__cplusplus >= EXPECTED_CPLUSPLUS, "the consumer asked for a newer language");
#endif
#ifdef EXPECTED_POINTER_SIZE
static_assert(sizeof(void*) == EXPECTED_POINTER_SIZE, "the consumer asked for another kind of machine");
#endif

namespace {

struct attempt {
    std::string job, host;
    std::chrono::milliseconds took;
    bool ok;
};

constexpr straggle::attempt_fields fields{
    .job = &attempt::job, .node = &attempt::host, .duration = &attempt::took, .status = &attempt::ok};

// Ten jobs with ten tasks on each of four hosts; host-3 takes half as long again, and one task of each job
// fails.
std::vector<attempt> some_work() {
    std::vector<attempt> attempts;
    for (int i = 0; i < 400; ++i) {
        int const usual = 1000 + 100 * (i / 40) + 7 * i % 30;
        attempts.push_back({"job-" + std::to_string(i / 40), "host-" + std::to_string(i % 4),
                            std::chrono::milliseconds(i % 4 == 3 ? usual + usual / 2 : usual), i % 40 != 0});
    }
    return attempts;
}

// The usual way through the library; what goes wrong first, or null.
char const* failure() {
    constexpr straggle::stats::confidence_level level{0.5};
    if (level.tail() != 0.25 || straggle::stats::confidence_level::from(1.5)) return "confidence_level";

    auto const ranking = straggle::rank_nodes(some_work(), fields);
    if (ranking.nodes().size() != 4) return "there are four nodes";
    if (ranking.attempts().used != 390 || ranking.attempts().failed != 10) return "ten tasks failed";
    if (ranking.level(0).size() != 1 || ranking.level(0)[0].id != "host-3") return "host-3 is the slow one";

    auto const decision =
        straggle::blacklister{straggle::blacklist::dominated{}, straggle::blacklist::at_most{1}}.decide(
            ranking);
    if (decision.blacklisted().size() != 1 || !decision.avoids("host-3")) return "host-3 is to be avoided";
    if (decision.avoids("host-0")) return "host-0 is not";

    // 1.812 in every table of the t distribution.
    auto const quantile = straggle::stats::student_t_quantile(0.95, 10.0);
    if (!quantile || !(*quantile > 1.8124 && *quantile < 1.8125)) return "Student's t";
    return nullptr;
}

} // namespace

int main(int argc, char** argv) {
    constexpr auto version = straggle::library_version;
    char text[64];
    std::snprintf(text, sizeof text, "%d.%d.%d", version.major_number, version.minor_number,
                  version.patch_number);
    if (argc != 2 || std::strcmp(argv[1], text) != 0) {
        std::printf("these headers are version %s\n", text);
        return 1;
    }
    if (char const* const what = failure()) {
        std::printf("not as expected: %s\n", what);
        return 1;
    }
    return 0;
}
