// A policy has a name, which stands in every verdict.
// expect: selection_without_name\.cpp:\d+:\d+
// expect: a selection needs a name
// expect: static constexpr std::string_view name
#include <straggle/blacklist/blacklister.hpp>

struct slower_than_one {
#ifdef STRAGGLE_CONTROL
    static constexpr std::string_view name = "slower_than_one";
#endif
    template <class Node>
    straggle::blacklist::selection_note select(std::span<Node const> nodes,
                                               straggle::blacklist::selection_scratch&,
                                               std::vector<straggle::blacklist::candidate>& out) const {
        for (std::uint32_t i = 0; i < nodes.size(); ++i)
            if (nodes[i].mean > 1) out.push_back({i, nodes[i].mean, 1});
        return straggle::blacklist::selection_note::none;
    }
};

bool avoids_nobody(straggle::node_ranking<std::uint64_t> const& ranking) {
    straggle::blacklister chooser{slower_than_one{}};
    return chooser.decide(ranking).avoids(0);
}
