// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A progress bar on the terminal for work that takes more than half a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace program {

class progress_bar {
  public:
    /// @param total bytes, 0 if unknown @param noun what is counted beside them
    progress_bar(bool wanted, std::uint64_t total, char const* noun = "rows")
        : wanted_(wanted), total_(total), noun_(noun) {}
    progress_bar(progress_bar const&) = delete;
    progress_bar& operator=(progress_bar const&) = delete;
    ~progress_bar() {
        if (drawn_) std::fputs("\r\033[K", stderr);
    }

    /// Shows the progress; cheap enough to be called for every record.
    void update(std::uint64_t bytes, std::uint64_t rows) {
        if (!wanted_ || (rows & 0xfff) != 0) return;
        auto const now = clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(100);
        draw(bytes, rows);
        drawn_ = true;
    }

  private:
    using clock = std::chrono::steady_clock;

    void draw(std::uint64_t bytes, std::uint64_t rows) const {
        unsigned long long const count = rows;
        if (total_ == 0) {
            std::fprintf(stderr, "\r%llu %s", count, noun_);
            return;
        }
        double const share = static_cast<double>(bytes) / static_cast<double>(total_);
        std::string bar(40, ' ');
        for (std::size_t i = 0; i < bar.size() && static_cast<double>(i) < share * 40; ++i) bar[i] = '=';
        std::fprintf(stderr, "\r[%s] %3.0f %%  %llu %s", bar.c_str(), share * 100, count, noun_);
    }

    bool wanted_;
    std::uint64_t total_;
    char const* noun_;
    bool drawn_ = false;
    clock::time_point next_ = clock::now() + std::chrono::milliseconds(500);
};

} // namespace program
