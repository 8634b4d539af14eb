// A limit has to be told what it let through.
// expect: guard_without_take\.cpp:\d+:\d+
// expect: a limit needs take\(request\)
#include <straggle/blacklist/blacklister.hpp>

struct one_in_two {
    static constexpr std::string_view name = "one_in_two";
    template <class Ranking>
    void begin(Ranking const&, std::size_t) {}
    template <class NodeId>
    bool admits(NodeId const&) {
        return turn = !turn;
    }
#ifdef STRAGGLE_CONTROL
    template <class NodeId>
    void take(NodeId const&) {}
#endif
    bool turn = false;
};

bool avoids_nobody(straggle::node_ranking<std::uint64_t> const& ranking) {
    straggle::blacklister chooser{straggle::blacklist::weakest_level{}, one_in_two{}};
    return chooser.decide(ranking).avoids(0);
}
