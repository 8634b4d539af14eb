// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Defines what a node is: which of the user's members hold its name, its slots and the operator's setting.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/record/field.hpp>

#include <concepts>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::record {

/// The operator's or cluster's word on a node, regardless of measurements.
enum class condition : std::uint8_t {
    present, ///< no restriction: it is in the cluster
    pinned,  ///< must not be taken out of service
    denied,  ///< must be kept out of service
    away,    ///< absent or draining
};

/// The operator's setting for a node: a `condition`, or a `bool` that is true if the node is present.
template <class Field, class Record>
concept condition_field =
    base::projection_of<Field, Record> && (std::same_as<detail::field_value_t<Field, Record>, condition> ||
                                           std::same_as<detail::field_value_t<Field, Record>, bool>);

} // namespace straggle::record

namespace straggle::inline STRAGGLE_ABI {

/// Maps the members of a node record to their meaning. An aggregate for designated initializers.
///
/// @par Example
/// `node_fields{.node = &host::name, .slots = &host::cores, .busy = &host::running}`
///
/// Any projection may yield a `std::optional`: an empty one means unknown.
template <class Node = base::no_field, class Slots = base::no_field, class Busy = base::no_field,
          class MachineClass = base::no_field, class Domain = base::no_field,
          class Condition = base::no_field>
struct node_fields {
    [[no_unique_address]] Node node{};   ///< `node_field`
    [[no_unique_address]] Slots slots{}; ///< `count_field`; if absent, 1
    [[no_unique_address]] Busy busy{};   ///< `count_field`; if absent, the running attempts are counted
    [[no_unique_address]] MachineClass machine_class{}; ///< `label_field`: machines of the same make
    [[no_unique_address]] Domain domain{};       ///< `label_field`: nodes that fail or slow down together
    [[no_unique_address]] Condition condition{}; ///< `condition_field`; if absent, all nodes are present
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::record {

/// Fields with which a `Record` can be read as a node.
template <class Fields, class Record>
concept node_fields_for =
    node_field<decltype(Fields::node), Record> &&
    (!detail::given<decltype(Fields::slots)> || count_field<decltype(Fields::slots), Record>) &&
    (!detail::given<decltype(Fields::busy)> || count_field<decltype(Fields::busy), Record>) &&
    (!detail::given<decltype(Fields::machine_class)> ||
     label_field<decltype(Fields::machine_class), Record>) &&
    (!detail::given<decltype(Fields::domain)> || label_field<decltype(Fields::domain), Record>) &&
    (!detail::given<decltype(Fields::condition)> || condition_field<decltype(Fields::condition), Record>);

} // namespace straggle::record

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Fields, class Record>
constexpr record::condition read_condition(Fields const& fields, Record const& record) {
    if constexpr (!given<decltype(Fields::condition)>) {
        return record::condition::present;
    } else {
        auto const& field = project(fields.condition, record);
        if (!is_present(field)) return record::condition::present;
        if constexpr (std::same_as<field_value_t<decltype(Fields::condition), Record>, bool>)
            return unwrap(field) ? record::condition::present : record::condition::away;
        else
            return unwrap(field);
    }
}

} // namespace straggle::detail
