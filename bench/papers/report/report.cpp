// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "report.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace report {

options parse(int argc, char** argv) {
    options o;
    o.workers = std::max(1u, std::thread::hardware_concurrency());
    for (int i = 1; i < argc; ++i) {
        std::string_view const arg = argv[i];
        std::string_view const value = i + 1 < argc ? argv[i + 1] : "";
        auto const number = [&value](std::size_t& to) {
            return std::from_chars(value.data(), value.data() + value.size(), to).ptr ==
                       value.data() + value.size() &&
                   to > 0;
        };
        if (arg == "--full") {
            o.full = true;
        } else if (arg == "--smoke") {
            o.smoke = true;
        } else if (arg == "--out" && !value.empty()) {
            o.out = argv[++i];
        } else if ((arg == "--workers" && number(o.workers)) || (arg == "--runs" && number(o.runs))) {
            ++i;
        } else {
            std::fprintf(stderr, "usage: %s [--full|--smoke] [--runs N] [--out FOLDER] [--workers N]\n",
                         argv[0]);
            std::exit(2);
        }
    }
    std::filesystem::create_directories(o.out);
    return o;
}

estimate median_of(std::vector<double> values) {
    std::erase_if(values, [](double v) { return std::isnan(v); });
    if (values.empty()) return {std::nan(""), std::nan(""), std::nan(""), 0};
    std::sort(values.begin(), values.end());
    std::size_t const n = values.size();
    // The k-th smallest is above the median with the probability of fewer than k of n coins falling heads.
    double tail = std::pow(0.5, static_cast<double>(n)), coins = tail;
    std::size_t k = 0;
    while (k < n / 2 && tail <= 0.025) {
        ++k;
        coins *= static_cast<double>(n - k + 1) / static_cast<double>(k);
        tail += coins;
    }
    k = std::max<std::size_t>(k, 1);
    return {(values[(n - 1) / 2] + values[n / 2]) / 2, values[k - 1], values[n - k], n};
}

table::table(options const& how, std::string const& name) : out_(how.out / (name + ".csv")) {
    if (!out_) throw std::runtime_error("cannot write " + (how.out / (name + ".csv")).string());
    out_ << "group,series,x,median,low,high,runs,paper\n";
}

void table::row(std::string_view group, std::string_view series, std::string_view x, estimate const& e,
                std::optional<double> paper) {
    auto const number = [this](double v) {
        if (!std::isnan(v)) out_ << v;
        out_ << ',';
    };
    for (std::string_view const text : {group, series, x}) {
        if (text.find(',') == text.npos)
            out_ << text << ',';
        else
            out_ << '"' << text << "\","; // no text here has a quotation mark
    }
    number(e.median);
    number(e.low);
    number(e.high);
    out_ << e.runs << ',';
    if (paper) out_ << *paper;
    out_ << '\n' << std::flush;
}

} // namespace report
