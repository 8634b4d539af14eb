// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of the rooms: members that cost a compiler nothing until their class is used.
#pragma once

#include <straggle/base/config.hpp>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Owner, class Type>
struct type_when_used {
    using type = Type;
};

// `Type`, in the template whose parameter is `Owner`. A compiler looks into a member's type where it reads
// the class, even that of a template: a `std::vector` of a library's own row is instantiated in every unit
// that includes the header. Where the type hangs on a parameter, that waits until the class is instantiated,
// and so does every call on the member.
template <class Owner, class Type>
using when_used = typename type_when_used<Owner, Type>::type;

} // namespace straggle::detail
