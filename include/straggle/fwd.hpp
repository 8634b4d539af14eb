// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Forward declarations, for headers that only name the library's types.
#pragma once

#include <cstdint>

namespace straggle {

template <class T>
class outcome;
class byte_reader;
class byte_writer;
class confidence_level;
struct interval;
struct node_performance;
struct attempt_counts;
struct monitor_counts;
struct sentence;
struct window_evidence;
enum class custody : std::uint8_t;
template <class NodeId>
class fleet_view;

template <class NodeId>
struct ranked_node;
template <class NodeId>
struct unranked_node;
template <class NodeId, class JobId>
class node_ranking;

template <class NodeId>
class blacklist_decision;

} // namespace straggle
