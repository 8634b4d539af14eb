// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "cluster.hpp"

#include "sent_name.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace straggle_watch {

namespace {

std::optional<std::string_view> view(std::optional<std::string> const& s) {
    if (!s) return std::nullopt;
    return std::string_view(*s);
}

void write_text(straggle::byte_writer& out, std::optional<std::string> const& s) {
    out.flag(s.has_value());
    if (s) out.text(*s);
}
std::optional<std::string> read_text(straggle::byte_reader& in) {
    if (!in.flag()) return std::nullopt;
    return std::string(in.text());
}
void write_real(straggle::byte_writer& out, std::optional<double> x) {
    out.flag(x.has_value());
    if (x) out.real(*x);
}
std::optional<double> read_real(straggle::byte_reader& in) {
    if (!in.flag()) return std::nullopt;
    double const x = in.real();
    in.expect(std::isfinite(x));
    return x;
}
void write_count(straggle::byte_writer& out, std::optional<std::int64_t> n) {
    out.flag(n.has_value());
    if (n) out.i64(*n);
}
std::optional<std::int64_t> read_count(straggle::byte_reader& in) {
    if (!in.flag()) return std::nullopt;
    std::int64_t const n = in.i64();
    in.expect(n >= 0 && n <= std::int64_t{1} << 53);
    return n;
}
void write_flag(straggle::byte_writer& out, std::optional<bool> yes) {
    out.u8(!yes ? 2 : *yes ? 1 : 0);
}
std::optional<bool> read_flag(straggle::byte_reader& in) {
    std::uint8_t const n = in.u8();
    in.expect(n <= 2);
    if (n == 2) return std::nullopt;
    return n == 1;
}

} // namespace

// Each part follows its length, so that no two lists of parts give the same text.
std::string_view cluster::identity(attempt_names const& names) {
    key_.clear();
    auto const add = [this](std::string_view sent) {
        std::string_view const part = plain(sent);
        auto const size = static_cast<std::uint32_t>(part.size());
        std::array<char, sizeof size> bytes{};
        std::memcpy(bytes.data(), &size, sizeof size);
        key_.append(bytes.data(), bytes.size()).append(part);
    };
    add(names.job);
    if (names.attempt) {
        add(*names.attempt);
        return key_;
    }
    add(names.node);
    if (names.task) {
        key_ += 't';
        add(*names.task);
        return key_;
    }
    auto const start = std::bit_cast<std::array<char, sizeof(double)>>(names.start.value_or(0));
    key_ += 's';
    key_.append(start.data(), start.size());
    return key_;
}

place& cluster::at(std::string_view node) {
    std::uint32_t const number = node_names_.insert(plain(node));
    if (number >= places_.size()) places_.resize(number + std::size_t{1});
    places_[number].number = number;
    return places_[number];
}

// Keeps nothing of a node about which nothing is known.
void cluster::leave(place const& here) {
    if (here.running == 0 && here.row == place::none) node_names_.erase(here.number);
}

place* cluster::find_place(std::string_view node) {
    std::uint32_t const number = node_names_.find(plain(node));
    return number == node_names_.none ? nullptr : &places_[number];
}

running_attempt* cluster::find(attempt_names const& names) {
    if (order_.empty()) return nullptr;
    std::uint32_t const number = identities_.find(identity(names));
    return number == identities_.none ? nullptr : &running_[number];
}

running_attempt* cluster::add(attempt_names const& names) {
    std::string_view const key = identity(names);
    if (std::uint32_t const known = identities_.find(key); known != identities_.none) {
        running_attempt& row = running_[known];
        row.round = running_round_;
        if (row.node != names.node) { // an attempt with its own identity may move
            --row.at->running;
            leave(*row.at);
            row.node = names.node;
            row.at = &at(names.node);
            ++row.at->running;
        }
        return &row;
    }
    if (order_.size() >= most_running_) return nullptr;
    std::uint32_t const number = identities_.insert(key);
    if (number >= running_.size()) {
        running_.resize(number + std::size_t{1});
        rows_.resize(number + std::size_t{1});
    }
    rows_[number] = static_cast<std::uint32_t>(order_.size());
    order_.push_back(number);
    running_attempt& row = running_[number]; // as its predecessor left it
    row.number = number;
    row.job = names.job;
    row.node = names.node;
    assign(row.task, names.task);
    assign(row.attempt, names.attempt);
    row.start = names.start.value_or(0);
    row.round = running_round_;
    row.at = &at(names.node);
    ++row.at->running;
    return &row;
}

void cluster::remove(running_attempt const& row) {
    identities_.erase(row.number);
    --row.at->running;
    leave(*row.at);
    std::uint32_t const gap = rows_[row.number];
    order_[gap] = order_.back();
    rows_[order_[gap]] = gap;
    order_.pop_back();
}

told_node* cluster::find_node(std::string_view name) {
    place const* const found = find_place(name);
    return found == nullptr || found->row == place::none ? nullptr : &nodes_[found->row];
}

told_node* cluster::add_node(std::string_view name) {
    if (told_node* const known = find_node(name)) {
        known->round = node_round_;
        return known;
    }
    if (nodes_.size() >= most_nodes_) return nullptr;
    place& here = at(name);
    here.row = static_cast<std::uint32_t>(nodes_.size());
    told_node& node = nodes_.emplace_back();
    node.name = name;
    node.round = node_round_;
    node.at = &here;
    return &node;
}

bool cluster::remove_node(std::string_view name) {
    place* const found = find_place(name);
    if (found == nullptr || found->row == place::none) return false;
    for (std::size_t i = order_.size(); i-- > 0 && found->running != 0;)
        if (running_[order_[i]].at == found) remove_row(i); // its place stays, as the node has a row
    std::uint32_t const gap = found->row;
    found->row = place::none;
    leave(*found);
    if (gap + 1 != nodes_.size()) {
        nodes_[gap] = std::move(nodes_.back());
        find_place(nodes_[gap].name)->row = gap;
    }
    nodes_.pop_back();
    return true;
}

void cluster::end_running_list() {
    in_running_list_ = false;
    for (std::size_t i = order_.size(); i-- > 0;)
        if (running_[order_[i]].round != running_round_) remove_row(i);
}

void cluster::end_node_list() {
    in_node_list_ = false;
    for (std::size_t i = order_.size(); i-- > 0;)
        if (std::uint32_t const row = running_[order_[i]].at->row;
            row != place::none && nodes_[row].round != node_round_)
            remove_row(i);
    for (std::size_t i = nodes_.size(); i-- > 0;)
        if (nodes_[i].round != node_round_) remove_node(nodes_[i].name);
}

void cluster::write(straggle::byte_writer& out) const {
    out.varint(running_round_);
    out.varint(node_round_);
    out.flag(in_running_list_);
    out.flag(in_node_list_);
    out.count(nodes_.size());
    for (told_node const& n : nodes_) {
        out.text(n.name);
        write_count(out, n.slots);
        write_count(out, n.busy);
        write_text(out, n.machine_class);
        write_text(out, n.domain);
        out.u8(static_cast<std::uint8_t>(n.condition));
        out.varint(n.round);
    }
    out.count(order_.size());
    for (running_attempt const& r : running()) {
        out.text(r.job);
        out.text(r.node);
        for (auto const* const s : {&r.task, &r.attempt, &r.kind}) write_text(out, *s);
        out.real(r.start);
        for (auto const x : {r.progress, r.reported, r.input, r.waited, r.deadline, r.weight})
            write_real(out, x);
        write_count(out, r.attempts);
        write_flag(out, r.copy);
        write_flag(out, r.may_copy);
        out.varint(r.round);
    }
}

bool cluster::read(straggle::byte_reader& in) {
    running_round_ = in.varint();
    node_round_ = in.varint();
    in_running_list_ = in.flag();
    in_node_list_ = in.flag();
    for (std::size_t n = in.count(1); n-- > 0 && in.ok();) {
        told_node* const node = add_node(in.text());
        if (node == nullptr) return false;
        node->slots = read_count(in);
        node->busy = read_count(in);
        node->machine_class = read_text(in);
        node->domain = read_text(in);
        std::uint8_t const word = in.u8();
        in.expect(word <= static_cast<std::uint8_t>(straggle::record::condition::away));
        node->condition = static_cast<straggle::record::condition>(word);
        node->round = in.varint();
    }
    for (std::size_t n = in.count(1); n-- > 0 && in.ok();) {
        std::string const job(in.text()), name(in.text());
        auto const task = read_text(in), attempt = read_text(in), kind = read_text(in);
        double const start = in.real();
        in.expect(std::isfinite(start));
        running_attempt* const row = add({job, view(task), view(attempt), name, start});
        if (row == nullptr) return false;
        row->kind = kind;
        for (auto* const x :
             {&row->progress, &row->reported, &row->input, &row->waited, &row->deadline, &row->weight})
            *x = read_real(in);
        in.expect(!row->waited || *row->waited >= 0);
        in.expect(!row->weight || *row->weight >= 0);
        in.expect(!row->progress || (*row->progress >= 0 && *row->progress <= 1));
        row->attempts = read_count(in);
        row->copy = read_flag(in);
        row->may_copy = read_flag(in);
        row->round = in.varint();
    }
    return in.ok();
}

} // namespace straggle_watch
