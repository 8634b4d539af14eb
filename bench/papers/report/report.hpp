// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What the programs of the experiments have in common: options, medians with intervals, CSV files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace report {

/// `--full --smoke --runs N --out FOLDER --workers N`
struct options {
    bool full = false;
    bool smoke = false;   ///< one run of the shortest cases: checks that everything works, gives no result
    std::size_t runs = 0; ///< 0: as many as the mode has
    std::filesystem::path out = ".";
    std::size_t workers = 1;
    /// How often everything is repeated, each time with a seed of its own.
    std::size_t repetitions() const { return runs > 0 ? runs : smoke ? 1 : full ? 24 : 6; }
};
/// Ends the program with a message if it is called wrongly.
options parse(int argc, char** argv);

/// The main of every program here: reads the command line and does the work; reports errors.
/// @return the status to exit with
template <class Work>
int run(int argc, char** argv, Work const& work) {
    options const how = parse(argc, argv);
    try {
        work(how);
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "%s: %s\n", std::filesystem::path(argv[0]).filename().c_str(), e.what());
        return 1;
    }
}

/// A median and an interval that holds the true one with a probability of at least 95 %: between two order
/// statistics, whatever the distribution. (Six values are the fewest that have one; below, the range.)
struct estimate {
    double median = 0;
    double low = 0;
    double high = 0;
    std::size_t runs = 0;
};
/// @param values NaN ones are left out
estimate median_of(std::vector<double> values);

/// A table of results, one line for each number: what it is, what was measured, what the paper has.
class table {
  public:
    table(options const& how, std::string const& name);
    void row(std::string_view group, std::string_view series, std::string_view x, estimate const& value,
             std::optional<double> paper = {});

  private:
    std::ofstream out_;
};

} // namespace report
