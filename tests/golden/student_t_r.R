# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
#
# Writes student_t_r.csv: Student-t quantiles and, at the printed t, probabilities, by R's qt and pt.
#   Rscript student_t_r.R > student_t_r.csv
cat(sprintf("# made by tests/golden/student_t_r.R with %s\n", R.version.string))
cat("dof,q,t,upper_at_t\n")
for (dof in c(1, 1.5, 2, 3, 4, 5.5, 9, 29, 30, 64, 65, 99.9, 1000, 1e6))
  for (q in c(0.45, 0.3, 0.2, 0.1, 0.05, 0.025, 0.005, 1e-4, 1e-8, 1e-30)) {
    t <- qt(q, dof, lower.tail = FALSE)
    cat(sprintf("%.17g,%.17g,%.17g,%.17g\n", dof, q, t, pt(t, dof, lower.tail = FALSE)))
  }
