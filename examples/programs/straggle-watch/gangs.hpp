// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The gangs whose ranks report steps.
#pragma once

#include "../common/gang_steps.hpp"
#include "cluster.hpp"
#include "members.hpp"

#include <straggle/base/interner.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace straggle_watch {

/// Names by number, each in the form in which it was sent first. An empty name stands for none.
class sent_names {
  public:
    [[nodiscard]] std::size_t size() const { return plain_.size(); }
    [[nodiscard]] std::uint32_t find(std::string_view sent) const { return plain_.find(plain(sent)); }
    std::uint32_t insert(std::string_view sent) {
        std::uint32_t const number = plain_.insert(plain(sent));
        if (number == is_number_.size()) is_number_.push_back(plain(sent).size() != sent.size());
        return number;
    }
    [[nodiscard]] std::string const& operator[](std::uint32_t i) const { return plain_[i]; }
    [[nodiscard]] nlohmann::ordered_json json(std::uint32_t i) const {
        if (plain_[i].empty()) return nullptr;
        return name_json((is_number_[i] ? std::string(1, number_mark) : std::string()) + plain_[i]);
    }

  private:
    straggle::interner<std::string> plain_;
    std::vector<bool> is_number_;
};

/// Gangs by job.
///
/// @par Guarantees memory is bounded by the number of gangs and of the names of all; evidence is not stored
class gangs {
  public:
    static constexpr std::size_t most = 64;      ///< gangs; a further one takes the place of the idlest
    static constexpr std::size_t most_rows = 16; ///< in a list of the answer

    explicit gangs(std::size_t most_names) : most_names_(most_names) {}

    /// Reads a report of a step. What is wrong with it is a fault of `m`.
    void report(members& m);
    void finish(std::string_view job);

    [[nodiscard]] std::size_t size() const { return gangs_.size(); }
    /// The gangs with ranks that others wait for, or all.
    [[nodiscard]] nlohmann::ordered_json list(bool lists_all, bool advises);

    std::uint64_t used = 0;    ///< reports
    std::uint64_t dropped = 0; ///< gangs that gave way to others

  private:
    using by_duration =
        decltype(straggle::gang::step_watch_of<program::step_report>(program::steps_by_duration));
    using by_arrival =
        decltype(straggle::gang::step_watch_of<program::step_report>(program::steps_by_arrival));
    struct gang {
        std::string job; // as sent
        std::variant<by_duration, by_arrival> watch;
        program::gang_names<sent_names> names{};
        std::uint64_t last = 0; // number of its last report
        std::optional<double> restart_cost{}, steps_left{};
        double since_checkpoint = 0;

        [[nodiscard]] std::size_t size() const {
            return names.ranks.size() + names.nodes.size() + names.sections.size() + names.stages.size();
        }
    };
    using entry = text_map<gang>::iterator;

    template <class Watch>
    static nlohmann::ordered_json describe(gang const& g, Watch& watch, bool lists_all, bool advises);
    gang& gang_of(std::string_view job, bool says_arrivals);
    void forget(entry at);
    std::uint32_t number_of(sent_names& of, std::string_view sent, std::size_t most_of_kind);

    std::size_t most_names_, names_ = 0;
    std::uint64_t seen_ = 0;
    text_map<gang> gangs_;
};

} // namespace straggle_watch
