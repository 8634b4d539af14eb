# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""How often the likeliest cause of a late task is the true one, from the output of `effectiveness --causes FILE`."""
import collections
import csv
import sys

CAUSES = ["node", "input", "crowd", "kind", "itself"]


def likeliest(row, prefix=""):
    return max(CAUSES, key=lambda cause: float(row[prefix + cause]))


def main(file):
    tenths, sure, scenarios = (collections.defaultdict(lambda: [0, 0, 0.0]) for _ in range(3))
    with open(file, newline="") as rows:
        for row in csv.DictReader(rows):
            said = likeliest(row, "p_")
            probability, right = float(row["p_" + said]), said == likeliest(row)
            groups = [tenths[min(int(probability * 10), 9)]]
            if probability >= 0.9:
                groups += [sure[said], scenarios[row["scenario"]]]
            for group in groups:
                group[0] += 1
                group[1] += right
                group[2] += probability
    for title, groups in ("by tenths of the probability", tenths), ("odds of 9 to 1", sure), ("the same by scenario", scenarios):
        print(title)
        for name, (n, right, said) in sorted(groups.items(), key=lambda g: str(g[0])):
            print(f"  {name!s:30} {n:8} said {said / n:.3f} right {right / n:.3f}")


if __name__ == "__main__":
    main(sys.argv[1])
