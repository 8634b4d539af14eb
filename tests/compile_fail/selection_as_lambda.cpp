// A selection is more than a function.
// expect: lambda
// expect: a selection needs a name \(a lambda has none: write a struct\)
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
straggle::blacklister policy{[](auto&&...) { return straggle::blacklist::selection_note::none; }};
#endif
