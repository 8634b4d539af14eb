// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The content of a plan log, as far as a page can show it: bounded, however long the log is.
#pragma once

#include <nlohmann/json.hpp>
#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace straggle_report {

/// Keeps a uniform random sample of what it receives.
template <class T>
class sample {
  public:
    static constexpr std::size_t most = 3000;
    void add(T const& x) {
        ++seen_;
        if (kept_.size() < most)
            kept_.push_back(x);
        else if (std::uint64_t const at = random_() % seen_; at < most)
            kept_[static_cast<std::size_t>(at)] = x;
    }
    [[nodiscard]] std::uint64_t seen() const { return seen_; }
    [[nodiscard]] std::vector<T> const& kept() const { return kept_; }

  private:
    std::vector<T> kept_;
    std::uint64_t seen_ = 0;
    std::mt19937_64 random_{1}; // the same log, the same page
};

class summary {
  public:
    /// Takes a line; false if it is not a line of a plan log.
    bool add(simdjson::dom::element line);
    [[nodiscard]] std::uint64_t plans() const { return plans_; }
    /// The data of the page.
    [[nodiscard]] nlohmann::ordered_json data(std::string_view title, std::uint64_t bad_lines) const;

  private:
    struct span {
        double from, to;
        std::string state, reason;
        double slowdown;
    };
    struct node {
        std::vector<span> spans;
        bool is_open = false; ///< the last span continues
    };
    struct moment {
        double at = 0, mean = 0, longest = 0;
        std::uint64_t ended = 0, waiting = 0, running = 0, out = 0, excluded = 0, plans = 0;
    };
    struct job {
        double start, took;
        bool left_alone;
    };
    struct copy {
        std::string job, task, node, to, winner;
        double planned, end, won;
    };

    void add_plan(simdjson::dom::element plan);
    void add_nodes(simdjson::dom::element plan, double now);
    void add_moment(moment const& m);
    void add_late(simdjson::dom::element plan);
    void close(double now);

    std::map<std::string, node> nodes_;
    std::vector<moment> moments_;
    std::uint64_t per_moment_ = 1; ///< plans in one moment
    sample<job> jobs_;
    sample<copy> copies_;
    std::uint64_t copies_won_ = 0, copies_lost_ = 0, probes_ = 0;
    double time_won_ = 0;
    std::map<std::string, std::uint64_t> notes_, causes_; ///< of tasks that are no longer late
    std::map<std::string, std::string> late_;             ///< most likely cause, by the names of the attempt
    std::vector<double> restarts_;
    std::string effects_ = "[]", counts_ = "{}";
    std::uint64_t plans_ = 0, most_nodes_ = 0, lost_spans_ = 0;
    double from_ = 0, to_ = 0;
    bool is_shadow_ = false, is_restart_ = false;
};

} // namespace straggle_report
