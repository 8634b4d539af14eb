// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/papers/dsb_2019.hpp>
#include <straggle/rank/rank_nodes.hpp>
#include <straggle/rank/sibling_normalizers.hpp>

#include <support/allocations.hpp>
#include <support/literal_dsb.hpp>
#include <support/shared_data.hpp>

#include <doctest/doctest.h>

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <forward_list>
#include <fstream>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <ranges>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace straggle;

namespace {

// The record all the others below are another form of.
struct attempt {
    int job = 0;
    int node = 0;
    std::int64_t took = 0;
    std::string name() const { return "node-" + std::to_string(node); }
    int node_number() const { return node; }

    friend std::istream& operator>>(std::istream& in, attempt& a) { return in >> a.job >> a.node >> a.took; }
};
constexpr attempt_fields fields{.job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};

std::vector<attempt> random_attempts(std::mt19937_64& engine, std::size_t records, int jobs, int nodes) {
    std::vector<attempt> attempts;
    for (std::size_t i = 0; i < records; ++i) {
        int const job = static_cast<int>(engine() % static_cast<unsigned>(jobs));
        int const node = static_cast<int>(engine() % static_cast<unsigned>(nodes));
        std::int64_t const usual = 1000 * (job + 1);
        attempts.push_back({job, node, usual + static_cast<std::int64_t>(engine() % 900) + 40 * node});
    }
    return attempts;
}

// All that a ranking says but the names, nodes in order of first appearance.
struct account {
    std::vector<std::vector<double>> nodes;
    std::vector<std::vector<std::uint64_t>> jobs;
    std::vector<std::size_t> levels;
    attempt_counts counts;
    std::uint64_t scored = 0;
    std::size_t usable_jobs = 0;
    bool operator==(account const&) const = default;
};

template <class Ranking>
account account_of(Ranking const& ranking) {
    account a;
    a.nodes.resize(ranking.fleet_size());
    for (auto const& n : ranking.nodes())
        a.nodes[n.seen] = {static_cast<double>(n.n),    n.mean, n.sd, n.ci.low, n.ci.high,
                           static_cast<double>(n.level)};
    for (auto const& n : ranking.unranked()) a.nodes[n.seen] = {static_cast<double>(n.n)};
    for (auto const& j : ranking.degenerate_jobs())
        a.jobs.push_back({j.attempts, static_cast<std::uint64_t>(j.reason)});
    for (std::size_t l = 0; l < ranking.levels(); ++l) a.levels.push_back(ranking.level(l).size());
    a.counts = ranking.attempts();
    a.scored = ranking.scored_attempts();
    a.usable_jobs = ranking.usable_jobs();
    return a;
}

// Numbers and level by name, for comparing rankings whose order of first appearance differs.
template <class Ranking>
auto by_name(Ranking const& ranking) {
    std::map<typename Ranking::node_id, std::vector<double>> result;
    for (auto const& n : ranking.nodes())
        result[n.id] = {static_cast<double>(n.n),    n.mean, n.sd, n.ci.low, n.ci.high,
                        static_cast<double>(n.level)};
    for (auto const& n : ranking.unranked()) result[n.id] = {static_cast<double>(n.n)};
    return result;
}

// A tie that hangs on rounding: there the literal algorithm in doubles may decide either way.
bool is_fragile(std::vector<straggle_test::literal_machine> const& machines) {
    for (auto const& a : machines)
        for (auto const& b : machines)
            if (a.mID != b.mID && std::fabs(a.performance.High - b.performance.Low) < 1e-9) return true;
    return false;
}

} // namespace

TEST_CASE("dsb_2019 is algorithms 1, 2 and 3 to the letter, on random histories") {
    std::mt19937_64 engine(20190717);
    int exact_levels = 0;
    for (int trial = 0; trial < 150; ++trial) {
        CAPTURE(trial);
        std::size_t const records = 1 + engine() % 250;
        int const jobs = 1 + static_cast<int>(engine() % 20), nodes = 1 + static_cast<int>(engine() % 25);
        auto attempts = random_attempts(engine, records, jobs, nodes);
        if (trial % 5 == 0)
            for (attempt& a : attempts) a.took = a.took / 300 * 300; // ties
        std::vector<straggle_test::literal_task> tasks;
        for (attempt const& a : attempts)
            tasks.push_back(
                {std::to_string(tasks.size()), std::to_string(a.job), a.name(), static_cast<double>(a.took)});
        auto const expected = straggle_test::literal_dsb(tasks);
        auto const ranking = rank_nodes(
            attempts,
            attempt_fields{.job = &attempt::job, .node = &attempt::name, .duration = &attempt::took},
            papers::dsb_2019::ranking());
        auto const found = by_name(ranking);
        REQUIRE(ranking.nodes().size() == expected.size());
        bool const fragile = is_fragile(expected);
        exact_levels += !fragile;
        for (auto const& m : expected) {
            std::vector<double> const& node = found.at(m.mID);
            REQUIRE(node.size() == 6);
            CHECK(node[0] == static_cast<double>(m.performance.tNum));
            CHECK(node[1] == doctest::Approx(m.performance.AvgNValue).epsilon(1e-9));
            CHECK(node[2] == doctest::Approx(m.performance.StDevNValue).epsilon(1e-9));
            CHECK(node[3] == doctest::Approx(m.performance.Low).epsilon(1e-9));
            CHECK(node[4] == doctest::Approx(m.performance.High).epsilon(1e-9));
            if (!fragile) CHECK(node[5] == m.level);
        }
    }
    CHECK(exact_levels > 100);
}

#if __has_include(<nlohmann/json.hpp>)
namespace {

struct csv_row {
    std::string job, task, node;
    std::optional<double> start, end;
    attempt_status status = attempt_status::success;
};

// The files have no quotes.
std::vector<csv_row> read_csv(std::filesystem::path const& path) {
    auto const number = [](std::string const& s) {
        return s.empty() ? std::optional<double>{} : std::optional{std::stod(s)};
    };
    std::ifstream in(path);
    std::vector<csv_row> rows;
    std::string line;
    std::getline(in, line);
    REQUIRE(line == "job,task,attempt,node,start_ms,end_ms,status,speculative,input_bytes");
    while (std::getline(in, line)) {
        std::vector<std::string> cells(1);
        for (char const c : line)
            if (c == ',')
                cells.emplace_back();
            else
                cells.back() += c;
        REQUIRE(cells.size() == 9);
        rows.push_back({cells[0], cells[1], cells[3], number(cells[4]), number(cells[5]),
                        cells[6] == "success"  ? attempt_status::success
                        : cells[6] == "killed" ? attempt_status::killed
                                               : attempt_status::failed});
    }
    return rows;
}

} // namespace

TEST_CASE("dsb_2019 on real histories") {
    for (std::string const name :
         {"hadoop-19jobs", "hadoop-gridmix-a", "hadoop-sls", "spark-groupon", "spark-speculation"}) {
        auto const csv = straggle_test::shared_file("data/" + name + ".csv");
        auto const json = straggle_test::shared_file("data/expected/" + name + ".json");
        if (!csv || !json) continue;
        CAPTURE(name);
        auto const rows = read_csv(*csv);
        std::ifstream in(*json);
        auto const expected = nlohmann::json::parse(in);
        auto const ranking = rank_nodes(rows,
                                        attempt_fields{.job = &csv_row::job,
                                                       .task = &csv_row::task,
                                                       .node = &csv_row::node,
                                                       .start = &csv_row::start,
                                                       .end = &csv_row::end,
                                                       .status = &csv_row::status},
                                        papers::dsb_2019::ranking());
        auto const& summary = expected["summary"];
        REQUIRE(summary["fragile_pairs"] == 0);
        CHECK(ranking.attempts().seen == summary["rows"]);
        CHECK(ranking.attempts().used == summary["used_rows"]);
        CHECK(ranking.usable_jobs() == summary["used_jobs"]);
        CHECK(ranking.nodes().size() == summary["ranked_nodes"]);
        CHECK(ranking.levels() == summary["levels"]);
        for (std::size_t l = 0; l < ranking.levels(); ++l)
            CHECK(ranking.level(l).size() == summary["level_sizes"][l]);
        auto const found = by_name(ranking);
        for (auto const& [id, node] : expected["nodes"].items()) {
            CAPTURE(id);
            REQUIRE(found.contains(id));
            std::vector<double> const& f = found.at(id);
            CHECK(f[0] == node["n"]);
            REQUIRE((f.size() == 6) == node["low"].is_number());
            if (f.size() == 1) continue;
            CHECK(f[1] == doctest::Approx(node["mean"].get<double>()).epsilon(1e-9));
            CHECK(f[2] == doctest::Approx(node["std"].get<double>()).epsilon(1e-9));
            double const mean = node["mean"], sd = node["std"], n = node["n"];
            double const half = straggle_test::literal_t_quantile(0.975, node["n"].get<std::size_t>() - 1) *
                                sd / std::sqrt(n);
            CHECK(f[3] == doctest::Approx(mean - half).epsilon(1e-9));
            CHECK(f[4] == doctest::Approx(mean + half).epsilon(1e-9));
            // The files' own ends come from a t quantile that is itself off by up to 4.2e-9.
            CHECK(f[3] == doctest::Approx(node["low"].get<double>()).epsilon(1e-8));
            CHECK(f[4] == doctest::Approx(node["high"].get<double>()).epsilon(1e-8));
            CHECK(f[5] == node["level"]);
        }
        for (auto const& node : ranking.unranked()) // the oracle lists nodes with scores only
            CHECK(expected["nodes"].contains(node.id) == (node.n > 0));
    }
}
#else
TEST_CASE("dsb_2019 on real histories") {
    MESSAGE("skipped: nlohmann/json.hpp is not installed");
}
#endif

template <>
struct straggle::task_traits<attempt> {
    static constexpr auto fields = ::fields;
};

TEST_CASE("every way to read a history gives the same bits") {
    std::mt19937_64 engine(5);
    auto const attempts = random_attempts(engine, 2000, 30, 40);
    account const reference = account_of(rank_nodes(attempts, fields)); // dense integers, read in place
    CHECK(reference.counts.used == 2000);
    CHECK(reference.levels.size() > 1);

    SUBCASE("task_traits") {
        CHECK(account_of(rank_nodes(attempts)) == reference);
        CHECK(account_of(rank_nodes(attempts, rank_options<>{})) == reference);
    }
    SUBCASE("sparse integers are hashed") {
        auto const sparse = [](int a) { return static_cast<std::int64_t>(a) * 1'000'000'007 - 5; };
        CHECK(account_of(rank_nodes(attempts,
                                    attempt_fields{.job = [&](attempt const& a) { return sparse(a.job); },
                                                   .node = [&](attempt const& a) { return sparse(-a.node); },
                                                   .duration = &attempt::took})) == reference);
    }
    SUBCASE("names: member functions, lambdas, views, literals") {
        CHECK(account_of(rank_nodes(attempts, attempt_fields{.job = &attempt::job,
                                                             .node = &attempt::name,
                                                             .duration = &attempt::took})) == reference);
        std::vector<std::string> names;
        for (int i = 0; i < 40; ++i) names.push_back(std::string(40, 'x') + std::to_string(i));
        auto const view = [&](attempt const& a) {
            return std::string_view(names[static_cast<std::size_t>(a.node)]);
        };
        auto const literal = [&](attempt const& a) {
            return names[static_cast<std::size_t>(a.node)].c_str();
        };
        auto const reference_to = [&](attempt const& a) -> std::string const& {
            return names[static_cast<std::size_t>(a.node)];
        };
        CHECK(account_of(rank_nodes(attempts, attempt_fields{.job = &attempt::job,
                                                             .node = view,
                                                             .duration = &attempt::took})) == reference);
        CHECK(account_of(rank_nodes(attempts,
                                    attempt_fields{.job = literal, .node = view, .duration = &attempt::took}))
                  .counts == reference.counts);
        CHECK(account_of(rank_nodes(attempts, attempt_fields{.job = &attempt::job,
                                                             .node = literal,
                                                             .duration = &attempt::took})) == reference);
        CHECK(account_of(rank_nodes(attempts, attempt_fields{.job = &attempt::job,
                                                             .node = reference_to,
                                                             .duration = &attempt::took})) == reference);
    }
    SUBCASE("integers of any width and sign, enumerations") {
        enum class rack : unsigned char {};
        CHECK(account_of(rank_nodes(
                  attempts,
                  attempt_fields{
                      .job = [](attempt const& a) { return static_cast<unsigned char>(a.job); },
                      .node = [](attempt const& a) { return static_cast<std::int8_t>(a.node - 20); },
                      .duration = [](attempt const& a) { return static_cast<std::uint32_t>(a.took); }})) ==
              reference);
        CHECK(account_of(
                  rank_nodes(attempts, attempt_fields{.job = [](attempt const& a) { return rack(a.job); },
                                                      .node = &attempt::node_number,
                                                      .duration =
                                                          [](attempt const& a) {
                                                              return std::chrono::milliseconds(a.took);
                                                          }})) == reference);
    }
    SUBCASE("optional fields") {
        CHECK(account_of(rank_nodes(
                  attempts, attempt_fields{.job = [](attempt const& a) { return std::optional(a.job); },
                                           .node = [](attempt const& a) { return std::optional(a.name()); },
                                           .duration = [](attempt const& a) { return std::optional(a.took); },
                                           .status = [](attempt const&) { return std::optional(true); }})) ==
              reference);
    }
    SUBCASE("start and end: numbers, time points, optional") {
        CHECK(account_of(rank_nodes(attempts,
                                    attempt_fields{.job = &attempt::job,
                                                   .node = &attempt::node,
                                                   .start = [](attempt const&) { return std::int64_t{-77}; },
                                                   .end = [](attempt const& a) { return a.took - 77; }})) ==
              reference);
        using clock = std::chrono::system_clock;
        CHECK(account_of(rank_nodes(
                  attempts, attempt_fields{.job = &attempt::job,
                                           .node = &attempt::node,
                                           .start = [](attempt const&) { return clock::time_point{}; },
                                           .end =
                                               [](attempt const& a) {
                                                   return std::optional(clock::time_point{} +
                                                                        clock::duration(a.took));
                                               }})) == reference);
    }
    SUBCASE("forward ranges and views") {
        CHECK(account_of(rank_nodes(std::list(attempts.begin(), attempts.end()), fields)) == reference);
        CHECK(account_of(rank_nodes(std::forward_list(attempts.begin(), attempts.end()), fields)) ==
              reference);
        CHECK(account_of(rank_nodes(std::deque(attempts.begin(), attempts.end()), fields)) == reference);
        CHECK(account_of(rank_nodes(std::span(attempts), fields)) == reference);
        CHECK(account_of(rank_nodes(std::views::iota(std::size_t{0}, attempts.size()) |
                                        std::views::transform([&](std::size_t i) { return attempts[i]; }),
                                    fields)) == reference);
        std::vector<attempt> backward(attempts.rbegin(), attempts.rend());
        CHECK(account_of(rank_nodes(backward | std::views::reverse, fields)) == reference);
    }
    SUBCASE("views that cannot be iterated when const") {
        auto const all = [](attempt const&) { return true; };
        CHECK(account_of(rank_nodes(attempts | std::views::filter(all), fields)) == reference);
    }
    SUBCASE("a range that can be read once") {
        std::stringstream stream;
        for (attempt const& a : attempts) stream << a.job << ' ' << a.node << ' ' << a.took << '\n';
        CHECK(account_of(rank_nodes(std::ranges::istream_view<attempt>(stream), fields)) == reference);
    }
    SUBCASE("tasks that are all different change nothing") {
        int next = 0;
        CHECK(account_of(rank_nodes(attempts, attempt_fields{.job = &attempt::job,
                                                             .task = [&](attempt const&) { return next++; },
                                                             .node = &attempt::node,
                                                             .duration = &attempt::took})) == reference);
    }
}

TEST_CASE("sibling normalizers and work rates do not care how they are read either") {
    std::mt19937_64 engine(6);
    auto const attempts = random_attempts(engine, 600, 12, 15);
    constexpr attempt_fields names{.job = &attempt::job, .node = &attempt::name, .duration = &attempt::took};
    auto const check = [&](auto options) {
        auto const reference = account_of(rank_nodes(attempts, fields, options));
        CHECK(account_of(rank_nodes(std::list(attempts.begin(), attempts.end()), fields, options)) ==
              reference);
        CHECK(account_of(rank_nodes(attempts, names, options)) == reference);
        CHECK(reference.scored == 600);
    };
    check(rank_options{.normalizer = rank::robust_z{}});
    check(rank_options{.normalizer = rank::leave_one_out_z{}});
    check(rank_options{.normalizer = rank::ratio_to_median{}});
    check(rank_options{.normalizer = rank::work_rate<>{}});
    check(rank_options{.normalizer = rank::work_rate<rank::robust_z>{}});
}

TEST_CASE("the order of the records does not matter") {
    std::mt19937_64 engine(7);
    auto attempts = random_attempts(engine, 3000, 40, 60);
    auto const names =
        attempt_fields{.job = &attempt::job, .node = &attempt::name, .duration = &attempt::took};
    auto const reals =
        attempt_fields{.job = &attempt::job, .node = &attempt::node, .duration = [](attempt const& a) {
                           return static_cast<double>(a.took) / 7;
                       }};
    auto const dense = by_name(rank_nodes(attempts, fields));
    auto const hashed = by_name(rank_nodes(attempts, names));
    auto const real = by_name(rank_nodes(attempts, reals));
    for (int trial = 0; trial < 10; ++trial) {
        std::shuffle(attempts.begin(), attempts.end(), engine);
        CHECK(by_name(rank_nodes(attempts, fields)) == dense); // bits
        CHECK(by_name(rank_nodes(attempts, names)) == hashed);
        auto const shuffled = by_name(rank_nodes(attempts, reals));
        for (auto const& [id, expected] : real) {
            auto const& found = shuffled.at(id);
            REQUIRE(found.size() == expected.size());
            CHECK(found.front() == expected.front());
            CHECK(found.back() == expected.back());
            for (std::size_t k = 1; k + 1 < found.size(); ++k)
                CHECK(found[k] == doctest::Approx(expected[k]).epsilon(1e-12));
        }
    }
}

TEST_CASE("work_rate does not blame a node for being handed more to do") {
    struct sized {
        int job, node;
        double took, input;
    };
    std::mt19937_64 engine(8);
    std::normal_distribution<double> noise(1.0, 0.05);
    std::vector<sized> attempts;
    for (int job = 0; job < 20; ++job) {
        for (int node = 0; node < 10; ++node) {
            double const input = node == 3 ? 200 : 100;
            double const speed = node == 7 ? 1.3 : 1.0; // the one that really is slow
            attempts.push_back({job, node, input * speed * noise(engine), input});
        }
    }
    attempt_fields const f{
        .job = &sized::job, .node = &sized::node, .duration = &sized::took, .input = &sized::input};
    auto const by_duration = rank_nodes(attempts, f);
    auto const by_rate = rank_nodes(attempts, f, rank_options{.normalizer = rank::work_rate<>{}});
    REQUIRE(by_duration.level(0).size() == 1);
    CHECK(by_duration.level(0)[0].id == 3);
    REQUIRE(by_rate.level(0).size() == 1);
    CHECK(by_rate.level(0)[0].id == 7);
    for (auto const& node : by_rate.nodes())
        if (node.id == 3) CHECK(std::fabs(node.mean) < 0.5);
}

TEST_CASE("shards by job, ranked together, are what one ranker over all has") {
    std::mt19937_64 engine(27);
    auto const check = [](auto const& attempts, auto const& f, double tolerance) {
        using record = typename std::remove_cvref_t<decltype(attempts)>::value_type;
        using ranker = node_ranker<record, std::remove_cvref_t<decltype(f)>>;
        ranker whole(f);
        auto const& expected = whole.rank(attempts);
        for (std::size_t const count : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
            std::vector<std::vector<record>> parts(count);
            for (record const& a : attempts) parts[static_cast<std::size_t>(a.job) % count].push_back(a);
            std::vector<ranker> shards(count, ranker(f));
            std::vector<std::thread> threads;
            for (std::size_t i = 0; i < count; ++i)
                threads.emplace_back([&, i] { shards[i].rank(parts[i]); });
            for (std::thread& t : threads) t.join();
            for (int again = 0; again < 2; ++again) { // the first shard puts them together, and remains one
                auto const& together = shards.front().rank_shards(shards);
                CHECK(together.attempts() == expected.attempts());
                CHECK(together.scored_attempts() == expected.scored_attempts());
                CHECK(together.usable_jobs() == expected.usable_jobs());
                CHECK(together.levels() == expected.levels());
                REQUIRE(together.nodes().size() == expected.nodes().size());
                CHECK(together.degenerate_jobs().size() == expected.degenerate_jobs().size());
                for (auto const& node : expected.nodes()) {
                    auto const at = std::find_if(together.nodes().begin(), together.nodes().end(),
                                                 [&](auto const& n) { return n.id == node.id; });
                    REQUIRE(at != together.nodes().end());
                    CHECK(at->n == node.n);
                    CHECK(at->level == node.level);
                    CHECK(std::fabs(at->mean - node.mean) <= tolerance);
                    CHECK(std::fabs(at->ci.low - node.ci.low) <= tolerance);
                    CHECK(std::fabs(at->slow.value - node.slow.value) <= tolerance + 1e-9);
                }
            }
        }
    };
    for (int round = 0; round < 5; ++round) {
        auto const attempts = random_attempts(engine, 2000, 40, 30);
        check(attempts, fields, 0);
        constexpr attempt_fields in_double{.job = &attempt::job,
                                           .node = &attempt::node,
                                           .duration = [](attempt const& a) { return 0.1 + double(a.took); }};
        check(attempts, in_double, 1e-12);
        constexpr attempt_fields named{
            .job = &attempt::job, .node = &attempt::name, .duration = &attempt::took};
        check(attempts, named, 0);
    }
    std::vector<attempt> lonely{{1, 1, 5}, {2, 1, 7}, {2, 2, 9}};
    check(lonely, fields, 0); // a job without scores
}

TEST_CASE("a ranker that is used again allocates nothing") {
    std::mt19937_64 engine(9);
    auto const attempts = random_attempts(engine, 1000, 20, 30);
    std::vector<std::string> jobs, nodes;
    for (int i = 0; i < 30; ++i) {
        jobs.push_back("job-with-a-name-too-long-for-the-small-string-" + std::to_string(100 + i));
        nodes.push_back("node-with-a-name-too-long-for-the-small-string-" + std::to_string(100 + i));
    }
    // Another window: other records, jobs and nodes come in another order.
    auto later = attempts;
    std::ranges::shuffle(later, engine);
    auto const by_names = attempt_fields{
        .job = [&](attempt const& a) -> std::string_view { return jobs[static_cast<std::size_t>(a.job)]; },
        .node = [&](attempt const& a) -> std::string_view { return nodes[static_cast<std::size_t>(a.node)]; },
        .duration = &attempt::took};
    auto const by_tasks = attempt_fields{.job = by_names.job,
                                         .task = [](attempt const& a) { return a.took; },
                                         .node = by_names.node,
                                         .duration = &attempt::took};
    auto const check = [&](auto const& f, auto const& options) {
        node_ranker<attempt, std::remove_cvref_t<decltype(f)>, std::remove_cvref_t<decltype(options)>> ranker(
            f, options);
        (void)ranker.rank(attempts);
        (void)ranker.rank(later);
        auto const expected = account_of(rank_nodes(attempts, f, options));
        CHECK(straggle_test::allocations_during([&] { (void)ranker.rank(attempts); }) == 0);
        CHECK(account_of(ranker.ranking()) == expected); // and nothing of the windows before is left
        CHECK(straggle_test::allocations_during([&] { (void)ranker.rank(later); }) == 0);
        CHECK(account_of(ranker.ranking()) == account_of(rank_nodes(later, f, options)));
    };
    SUBCASE("dense identifiers, z_score") {
        check(fields, rank_options<>{});
    }
    SUBCASE("dense identifiers, robust_z") {
        check(fields, rank_options{.normalizer = rank::robust_z{}});
    }
    SUBCASE("names, z_score") {
        check(by_names, rank_options<>{});
    }
    SUBCASE("names, robust_z") {
        check(by_names, rank_options{.normalizer = rank::robust_z{}});
    }
    SUBCASE("names, work_rate") {
        check(by_names, rank_options{.normalizer = rank::work_rate<>{}});
    }
    SUBCASE("first completions") {
        check(by_tasks, rank_options<>{});
    }
}

TEST_CASE("a ranker keeps its memory when nodes come and go") {
    // A window in which one node is unranked and one job degenerate, and a window in which they are not.
    std::string const text = std::string(50, 'a') + std::string(50, 'b') + std::string(50, 'c') +
                             std::string(50, 'j') + std::string(50, 'k');
    auto const name = [&](std::size_t i) { return std::string_view(text).substr(50 * i, 50); };
    std::string_view const a = name(0), b = name(1), c = name(2), j = name(3), k = name(4);
    struct named {
        std::string_view job, node;
        int took;
    };
    std::vector<named> full, poor;
    for (int i = 0; i < 6; ++i)
        for (std::string_view const job : {j, k})
            for (std::string_view const node : {a, b, c}) full.push_back({job, node, 10 + i * i});
    for (named const& r : full)
        if (r.job == j && r.node != c) poor.push_back(r);
    poor.push_back({j, c, 11});
    poor.push_back({k, c, 11});
    attempt_fields const f{.job = &named::job, .node = &named::node, .duration = &named::took};
    node_ranker<named, std::remove_cvref_t<decltype(f)>> ranker(f);
    (void)ranker.rank(full);
    (void)ranker.rank(poor);
    REQUIRE(ranker.ranking().unranked().size() == 1);
    REQUIRE(ranker.ranking().degenerate_jobs().size() == 1);
    CHECK(straggle_test::allocations_during([&] { (void)ranker.rank(full); }) == 0);
    CHECK(straggle_test::allocations_during([&] { (void)ranker.rank(poor); }) == 0);
}
