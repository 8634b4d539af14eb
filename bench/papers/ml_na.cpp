// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The experiments of X. Ouyang, C. Wang, R. Yang, G. Yang, P. Townend, J. Xu, ML-NA: a machine learning
/// based node performance analyzer utilizing straggler statistics (ICPADS 2017): tables I to III on made-up
/// months, and, beyond the paper, what the forecast is worth to a scheduler.
#include "ml_na/closed_loop.hpp"
#include "ml_na/tables.hpp"
#include "report/report.hpp"

int main(int argc, char** argv) {
    return report::run(argc, argv, [](report::options const& how) {
        ml_na::tables(how);
        ml_na::closed_loop(how);
    });
}
