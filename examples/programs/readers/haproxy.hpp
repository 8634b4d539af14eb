// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// HAProxy's log: the default HTTP format (`option httplog`), JSON, and the short one of our adapter.
#pragma once

#include "history.hpp"
#include "text_window.hpp"

#include <string>
#include <string_view>

namespace readers {

[[nodiscard]] bool looks_like_haproxy(std::string_view head);
void read_haproxy(text_window& text, collector& out);

/// The common form of requests for a path: `GET /api/users/#` of `GET /api/users/17?sort=name HTTP/1.1`.
/// @param to is overwritten
void path_class(std::string_view request, std::string& to);

} // namespace readers
