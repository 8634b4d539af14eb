// select says something of the fleet as a whole.
// expect: mine
// expect: select has to return a blacklist::selection_note
#include <straggle/blacklist/blacklister.hpp>

#include <span>
#include <string_view>
#include <vector>

#ifdef STRAGGLE_CONTROL
struct mine {
    static constexpr std::string_view name = "mine";
    template <class Node>
    straggle::blacklist::selection_note select(std::span<Node const>, straggle::blacklist::selection_scratch&,
                                               std::vector<straggle::blacklist::candidate>&) {
        return {};
    }
};
straggle::blacklister policy{mine{}};
#else
struct mine {
    static constexpr std::string_view name = "mine";
    template <class Node>
    bool select(std::span<Node const>, straggle::blacklist::selection_scratch&,
                std::vector<straggle::blacklist::candidate>&) {
        return {};
    }
};
straggle::blacklister policy{mine{}};
#endif
