// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// DSB equation 1 and algorithms 1 and 2 exactly as the paper prints them: string identifiers, and a walk
/// over the whole task set for every task and for every machine. The oracle of the tests and a rival of the
/// bench. Shares no code with the library.
#pragma once

#include <support/literal_p_cores.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace straggle_test {

/// "A user defined structure which contains attributes including tID, jID, mID, and duration."
struct literal_task {
    std::string tID;
    std::string jID;
    std::string mID;
    double duration = 0;
};

/// Equation 1: the duration less its job's mean, in (population) deviations.
/// @return nothing where the paper divides by zero: all durations of the job are equal
inline std::optional<double> normalized_execution_value(literal_task const& task,
                                                        std::vector<literal_task> const& tasks) {
    double sum = 0, count = 0;
    bool equal = true;
    for (literal_task const& t : tasks) {
        if (t.jID != task.jID) continue;
        sum += t.duration;
        ++count;
        if (t.duration < task.duration || t.duration > task.duration) equal = false;
    }
    if (equal) return std::nullopt;
    double const mean = sum / count;
    double squares = 0;
    for (literal_task const& t : tasks)
        if (t.jID == task.jID) squares += std::pow(t.duration - mean, 2);
    return (task.duration - mean) / std::sqrt(squares / count);
}

/// An element of the set Psi.
struct literal_value {
    std::string mID;
    double mu = 0;
};

/// Lines 2 to 15 of algorithm 1: every task's value with the machine it ran on.
inline std::vector<literal_value> literal_values(std::vector<literal_task> const& tasks,
                                                 std::vector<std::string> const& machines) {
    std::vector<literal_value> psi;
    for (literal_task const& task : tasks) {
        std::optional<double> const mu = normalized_execution_value(task, tasks);
        if (!mu) continue;
        for (std::string const& mID : machines)
            if (mID == task.mID) psi.push_back({mID, *mu});
    }
    return psi;
}

/// The quantile of Student's t for a whole number of degrees of freedom, from the finite sums of its
/// distribution function (Abramowitz and Stegun 26.7.3 and 26.7.4) by bisection.
/// @pre `0.5 < p < 1`
inline double literal_t_quantile(double p, std::size_t dof) {
    long double const pi = 3.14159265358979323846264338327950288L;
    // P(|T| <= t), t = sqrt(dof) tan(angle)
    auto const between = [&](long double angle) {
        long double const c = std::cos(angle), s = std::sin(angle);
        long double sum = 0, term = dof % 2 == 1 ? c : 1.0L;
        for (std::size_t k = dof % 2 == 1 ? 3 : 2; k <= dof; k += 2) {
            sum += term;
            term *= c * c * static_cast<long double>(k - 1) / static_cast<long double>(k);
        }
        return dof % 2 == 1 ? 2 / pi * (angle + s * sum) : s * sum;
    };
    long double low = 0, high = pi / 2;
    for (int i = 0; i < 80; ++i) {
        long double const middle = (low + high) / 2;
        (0.5L + between(middle) / 2 < static_cast<long double>(p) ? low : high) = middle;
    }
    return static_cast<double>(std::sqrt(static_cast<long double>(dof)) * std::tan(low));
}

/// What algorithm 2 works out about a machine; the paper returns CI only.
struct literal_performance {
    std::size_t tNum = 0;
    double AvgNValue = 0;
    double StDevNValue = 0;
    double Low = 0;
    double High = 0;
};

/// Algorithm 2. `quantile(p, dof)` stands for `td.inverseCumulativeProbability`.
/// @return nothing where the paper asks for a distribution with less than one degree of freedom
template <class Quantile>
std::optional<literal_performance> machine_execution_performance(std::string const& targetMID,
                                                                 std::vector<literal_value> const& psi,
                                                                 Quantile const& quantile) {
    std::vector<double> upsilon;
    literal_performance m;
    for (literal_value const& value : psi) {
        if (targetMID != value.mID) continue;
        upsilon.push_back(value.mu);
        m.tNum++;
        m.AvgNValue += value.mu;
    }
    if (m.tNum < 2) return std::nullopt;
    double const tNum = static_cast<double>(m.tNum);
    m.AvgNValue /= tNum;
    for (double const v : upsilon) m.StDevNValue += std::pow(v - m.AvgNValue, 2);
    m.StDevNValue = std::sqrt(m.StDevNValue / tNum);
    double const a = quantile(0.975, m.tNum - 1);
    m.Low = m.AvgNValue - m.StDevNValue * a / std::sqrt(tNum);
    m.High = m.AvgNValue + m.StDevNValue * a / std::sqrt(tNum);
    return m;
}

/// A machine with its interval and the iteration in which P-Cores removes it.
struct literal_machine {
    std::string mID;
    literal_performance performance;
    std::uint32_t level = 0;
};

/// One round of the loop of algorithm 1: tasks in, levels out. Machines without an interval are left out.
/// @param quantile of Student's t, called with p and the degrees of freedom
template <class Quantile>
std::vector<literal_machine> literal_dsb(std::vector<literal_task> const& tasks, Quantile const& quantile) {
    std::vector<std::string> machines;
    for (literal_task const& task : tasks) {
        bool known = false;
        for (std::string const& mID : machines) known = known || mID == task.mID;
        if (!known) machines.push_back(task.mID);
    }
    std::vector<literal_value> const psi = literal_values(tasks, machines);
    std::vector<literal_machine> result;
    std::vector<machine> gamma;
    for (std::string const& mID : machines) {
        auto const performance = machine_execution_performance(mID, psi, quantile);
        if (!performance) continue;
        result.push_back({mID, *performance});
        gamma.push_back({.low = performance->Low, .high = performance->High});
    }
    if (auto const levels = literal_levels(gamma, literal_rule::not_same_point))
        for (std::size_t i = 0; i < result.size(); ++i) result[i].level = (*levels)[i];
    return result;
}

/// The same with a quantile of its own, each one worked out once.
inline std::vector<literal_machine> literal_dsb(std::vector<literal_task> const& tasks) {
    std::map<std::size_t, double> known;
    return literal_dsb(tasks, [&known](double p, std::size_t dof) {
        auto const [at, is_new] = known.try_emplace(dof, 0.0);
        if (is_new) at->second = literal_t_quantile(p, dof);
        return at->second;
    });
}

} // namespace straggle_test
