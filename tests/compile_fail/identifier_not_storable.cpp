// Only text and whole numbers mean the same in the next run; other identifiers are refused, by name.
// expect: identifier_not_storable\.cpp:\d+:\d+: error
// expect: storable_identifier
#include <straggle/base/bytes.hpp>

#ifdef STRAGGLE_CONTROL
using node_id = unsigned;
#else
struct task;
using node_id = task*;
#endif

void store(straggle::byte_writer& out, node_id id) {
    out.identifier(id);
}
