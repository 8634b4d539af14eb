// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/factors.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/seed.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace straggle;
using straggle_test::allocations_during;

namespace {

using limits = std::numeric_limits<double>;

enum class flavour : std::int8_t { sweet, sour };

struct task {
    std::string job;
    std::string host;
    std::int64_t bytes = 0;
    float share = 0;
    std::optional<double> records;
    std::chrono::milliseconds waited{};
    std::optional<std::chrono::minutes> age;
    flavour kind = flavour::sweet;
    std::optional<int> priority;
    bool local = false;
    std::optional<bool> urgent;
    double real = 0;

    [[nodiscard]] double megabytes() const { return static_cast<double>(bytes) / 1e6; }
    [[nodiscard]] std::string_view rack() const { return std::string_view(host).substr(0, 2); }
};

template <class Reader>
std::array<double, Reader::size> row_of(Reader& reader, task const& t) {
    std::array<double, Reader::size> row{};
    reader.read(t, row);
    return row;
}
template <class Reader>
std::array<double, Reader::size> known_row_of(Reader const& reader, task const& t) {
    std::array<double, Reader::size> row{};
    reader.look_up(t, row);
    return row;
}

auto two_names(std::uint64_t memory = 0) {
    return predict::factor_reader_of<task>(
        predict::factors(predict::categorical(&task::job, "job"), predict::categorical(&task::host)), memory);
}
task named(std::string job, std::string host = "h") {
    task t;
    t.job = std::move(job);
    t.host = std::move(host);
    return t;
}

} // namespace

TEST_CASE("factors: a record becomes a row of numbers, whatever its members are") {
    constexpr auto list = predict::factors(
        predict::numeric(&task::bytes), predict::numeric(&task::share), predict::numeric(&task::records),
        predict::numeric(&task::waited), predict::numeric(&task::age), predict::numeric(&task::megabytes),
        predict::numeric([](task const& t) { return t.bytes % 7; }), predict::categorical(&task::job),
        predict::categorical(&task::rack), predict::categorical(&task::kind),
        predict::categorical(&task::priority), predict::categorical(&task::local),
        predict::categorical(&task::urgent));
    auto reader = predict::factor_reader_of<task>(list);
    static_assert(reader.size == 13);
    static_assert(reader.kinds[6] == predict::factor_kind::numeric &&
                  reader.kinds[7] == predict::factor_kind::categorical);

    task t;
    t.job = "sort";
    t.host = "r1-17";
    t.bytes = 3'000'001;
    t.share = 0.25F;
    t.records = 12.5;
    t.waited = std::chrono::milliseconds(1500);
    t.age = std::chrono::minutes(2);
    t.priority = -3;
    t.local = true;
    t.urgent = false;
    using row = std::array<double, 13>;
    CHECK(row_of(reader, t) == row{3000001, 0.25, 12.5, 1.5, 120, 3.000001, 3000001 % 7, 0, 0, 0, 0, 1, 0});
    // The same categories again, and others.
    t.job = "grep";
    t.host = "r1-99";
    t.kind = flavour::sour;
    CHECK(row_of(reader, t) == row{3000001, 0.25, 12.5, 1.5, 120, 3.000001, 3000001 % 7, 1, 0, 1, 0, 1, 0});
    CHECK(reader.categories() == 6);
}

TEST_CASE("factors: what is not known is missing, and missing is a state of its own") {
    auto reader = predict::factor_reader_of<task>(
        predict::factors(predict::numeric(&task::records), predict::numeric(&task::age),
                         predict::categorical(&task::priority), predict::categorical(&task::urgent),
                         predict::numeric(&task::real), predict::categorical(&task::real)));
    task t;
    t.real = limits::quiet_NaN();
    for (double const x : row_of(reader, t)) CHECK(predict::is_missing_factor(x));
    for (double const x : known_row_of(reader, t)) CHECK(predict::is_missing_factor(x));
    for (double const x : {limits::infinity(), -limits::infinity(), 2 * predict::largest_factor}) {
        t.real = x;
        t.records = x;
        auto const row = row_of(reader, t);
        CHECK(predict::is_missing_factor(row[0]));
        CHECK(predict::is_missing_factor(row[4]));
    }
    t.real = -predict::largest_factor;
    CHECK(row_of(reader, t)[4] == -predict::largest_factor);
    // Not a number is no category: it would be a new one every time.
    CHECK(reader.categories() == 2); // 2 * largest_factor and -largest_factor
}

TEST_CASE("factors: codes count up in order of first appearance, for each factor on its own") {
    auto reader = two_names();
    using row = std::array<double, 2>;
    CHECK(row_of(reader, named("a", "x")) == row{0, 0});
    CHECK(row_of(reader, named("a", "y")) == row{0, 1});
    CHECK(row_of(reader, named("b", "x")) == row{1, 0});
    CHECK(row_of(reader, named("x", "a")) == row{2, 2});
    for (int i = 0; i < 1000; ++i) row_of(reader, named(std::to_string(i), "z"));
    CHECK(row_of(reader, named("b", "y")) == row{1, 1});
    CHECK(row_of(reader, named("999", "z")) == row{1002, 3});
    CHECK(reader.name(0) == "job");
    CHECK(reader.name(1).empty());
}

TEST_CASE("factors: a category nobody knows is looked up in vain and not remembered") {
    auto reader = two_names();
    row_of(reader, named("a", "x"));
    using row = std::array<double, 2>;
    CHECK(known_row_of(reader, named("a", "new")) == row{0, predict::unknown_category});
    CHECK(known_row_of(reader, named("new", "x")) == row{predict::unknown_category, 0});
    CHECK(reader.categories() == 2);
    CHECK(row_of(reader, named("new", "x")) == row{1, 0});
    CHECK(reader.code<0>("a") == 0);
    CHECK(reader.code<0>(std::string("new")) == 1);
    CHECK(reader.code<1>("new") == predict::unknown_category);
    // It is unlike all categories there are.
    std::array const kinds{predict::factor_kind::categorical};
    for (double const code : {0.0, 1.0, 1e6})
        CHECK(predict::factor_difference(kinds[0], predict::unknown_category, code, 0) == 1);
}

TEST_CASE("factors: how long ago a category was read") {
    auto reader = two_names();
    CHECK(reader.rows_since<0>("a") == 0);
    row_of(reader, named("a", "x"));
    CHECK(reader.rows_since<0>("a") == 1);
    row_of(reader, named("b", "x"));
    row_of(reader, named("b", "y"));
    CHECK(reader.rows_since<0>("a") == 3);
    CHECK(reader.rows_since<0>("b") == 1);
    CHECK(reader.rows_since<1>("x") == 2);
    CHECK(reader.rows_since<1>("a") == 0);
}

TEST_CASE("factors: what has not been read for long is forgotten, and no code is given twice") {
    std::uint64_t const seed = straggle_test::seed_or(20'250'301);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    constexpr std::uint64_t memory = 300;
    auto reader = two_names(memory);
    struct category {
        double code;
        std::uint64_t last;
    };
    std::map<std::string, category> model;
    std::map<double, std::string> owner; // of every code there ever was
    std::size_t most = 0;
    for (std::uint64_t i = 1; i <= 20'000; ++i) {
        // New ones all the time, and now and then one from long ago.
        std::string const job = std::to_string(engine() % 8 == 0 ? engine() % (i + 1) : i / 2);
        double const code = row_of(reader, named(job))[0];
        auto const known = model.find(job);
        if (known != model.end() && i - known->second.last <= memory) {
            REQUIRE(code == known->second.code);
        } else if (known == model.end() || code != known->second.code) {
            REQUIRE(owner.emplace(code, job).second); // never seen before
        }
        model[job] = {code, i};
        most = (std::max)(most, reader.categories());
    }
    // Twice those of the last 300 rows and 64, and the host.
    CHECK(most <= 2 * memory + 64 + 1);
    CHECK(reader.code<0>("0") == predict::unknown_category);
}

TEST_CASE("factors: known categories and amounts allocate nothing, nor do new ones in place of forgotten") {
    auto reader = two_names(100);
    std::vector<task> tasks;
    for (int i = 0; i < 20'000; ++i) tasks.push_back(named("j" + std::to_string(i), "h"));
    std::array<double, 2> row{};
    std::size_t i = 0;
    for (; i < 10'000; ++i) reader.read(tasks[i], row);
    CHECK(allocations_during([&] {
              for (; i < tasks.size(); ++i) {
                  reader.read(tasks[i], row);
                  reader.look_up(tasks[i - 1], row);
              }
          }) == 0);
}

TEST_CASE("factors: clear forgets the categories; their codes are not used again") {
    auto reader = two_names();
    row_of(reader, named("a", "x"));
    row_of(reader, named("b", "x"));
    reader.clear();
    CHECK(reader.categories() == 0);
    CHECK(reader.code<0>("a") == predict::unknown_category);
    CHECK(row_of(reader, named("b", "x"))[0] == 2);
}

TEST_CASE("factors: stored and read again, they go on as before") {
    auto reader = two_names(20);
    for (int i = 0; i < 500; ++i) row_of(reader, named(std::to_string(i / 3), std::to_string(i % 5)));
    byte_writer out;
    reader.write(out);
    auto again = two_names(20);
    byte_reader in(out.payload());
    CHECK(again.restore(in) == status::ok);
    CHECK(in.at_end());
    CHECK(again.categories() == reader.categories());
    byte_writer twice;
    again.write(twice);
    CHECK(std::equal(out.payload().begin(), out.payload().end(), twice.payload().begin(),
                     twice.payload().end()));
    for (int i = 400; i < 900; ++i) {
        task const t = named(std::to_string(i / 3), std::to_string(i % 7));
        CHECK(row_of(again, t) == row_of(reader, t));
    }
}

TEST_CASE("factors: bytes of anything else change nothing") {
    auto reader = two_names();
    row_of(reader, named("a", "x"));
    row_of(reader, named("b", "x"));
    byte_writer out;
    reader.write(out);
    std::vector<std::byte> const good(out.payload().begin(), out.payload().end());

    auto const load = [&](std::span<std::byte const> bytes) {
        auto target = two_names();
        row_of(target, named("before"));
        byte_reader in(bytes);
        status const s = target.restore(in);
        if (s != status::ok) {
            CHECK(target.categories() == 2);
            CHECK(target.code<0>("before") == 0);
        }
        return s;
    };
    CHECK(load(good) == status::ok);
    for (std::size_t n = 0; n < good.size(); ++n) CHECK(load(std::span(good).first(n)) != status::ok);
    std::mt19937_64 engine(5);
    for (int i = 0; i < 20'000; ++i) { // none may crash
        std::vector<std::byte> bad = good;
        for (std::uint64_t flips = 1 + engine() % 3; flips > 0; --flips)
            bad[engine() % bad.size()] = static_cast<std::byte>(engine());
        load(bad);
    }
    // Other factors.
    auto numbers = predict::factor_reader_of<task>(
        predict::factors(predict::categorical(&task::job), predict::categorical(&task::priority)));
    byte_reader in(good);
    CHECK(numbers.restore(in) == status::wrong_kind);
    auto other = predict::factor_reader_of<task>(
        predict::factors(predict::categorical(&task::job), predict::numeric(&task::bytes)));
    byte_reader in2(good);
    CHECK(other.restore(in2) == status::wrong_kind);
    auto flags = predict::factor_reader_of<task>(
        predict::factors(predict::categorical(&task::job), predict::categorical(&task::local)));
    byte_reader in3(good);
    CHECK(flags.restore(in3) == status::wrong_kind);
    // The same code for two categories.
    byte_writer twins;
    twins.u8(1);
    twins.u8(1);
    for (int factor = 0; factor < 2; ++factor) {
        twins.tag(base::identifier_form<std::string>);
        twins.varint(3);
        twins.varint(5);
        twins.count(2);
        for (char const* const name : {"a", "b"}) {
            twins.identifier(std::string(name));
            twins.varint(2);
            twins.varint(4);
        }
    }
    CHECK(load(twins.payload()) == status::corrupt);
}

TEST_CASE("factors: none at all") {
    auto reader = predict::factor_reader_of<task>(predict::factors());
    static_assert(reader.size == 0);
    reader.read(task{}, {});
    CHECK(reader.categories() == 0);
}
