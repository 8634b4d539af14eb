// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Reads histories for the tests of their readers.
#pragma once

#include "../../../examples/programs/readers/readers.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace readers_test {

/// An attempt that owns its texts.
struct row {
    std::string job, task, node, executor;
    std::uint32_t number = 0;
    readers::ending end_state{};
    std::optional<bool> speculative;
    std::int64_t start_ms = -1, end_ms = -1; ///< -1: unknown
    std::int64_t input = -1;
    std::size_t line = 0;
};

struct reading {
    std::vector<row> rows;
    readers::reading_report report;

    [[nodiscard]] std::uint64_t count(readers::reason why) const { return report[why].count; }
    [[nodiscard]] std::vector<std::size_t> lines(readers::reason why) const {
        std::vector<std::size_t> all;
        for (auto const& at : report[why].first) all.push_back(at.line);
        return all;
    }
};

inline std::function<void(readers::attempt const&)> into(std::vector<row>& rows) {
    return [&rows](readers::attempt const& a) {
        auto const ms = [](std::optional<readers::moment> t) {
            return t ? std::chrono::duration_cast<std::chrono::milliseconds>(*t).count() : -1;
        };
        rows.push_back({std::string(a.job), std::string(a.task), std::string(a.node), std::string(a.executor),
                        a.number, a.end_state, a.speculative, ms(a.start), ms(a.end),
                        a.input ? static_cast<std::int64_t>(*a.input) : -1, a.line});
    };
}

inline reading read_files(std::vector<std::string> const& paths, std::optional<readers::format> from = {}) {
    reading r;
    r.report = readers::read_history(readers::files_of(paths), {.from = from}, into(r.rows));
    return r;
}

inline reading read_text(std::string_view text, std::optional<readers::format> from = {}) {
    reading r;
    r.report = readers::read_history({"text"}, {.from = from}, into(r.rows),
                                     std::make_unique<readers::input>("text", readers::text_source(text)));
    return r;
}

/// A file that is kept beside the tests.
inline std::string kept(std::string const& name) {
    return (std::filesystem::path(__FILE__).parent_path() / "../histories" / name).string();
}

} // namespace readers_test
