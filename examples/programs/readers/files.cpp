// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../common/failure.hpp"
#include "fields.hpp"
#include "readers.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

namespace readers {

namespace {

namespace fs = std::filesystem;

// Digits are compared by value: events_10 comes after events_9.
bool natural_less(std::string const& a, std::string const& b) {
    auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (!is_digit(a[i]) || !is_digit(b[j])) {
            if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
            ++i;
            ++j;
            continue;
        }
        std::size_t const first_i = i, first_j = j;
        while (i < a.size() && is_digit(a[i])) ++i;
        while (j < b.size() && is_digit(b[j])) ++j;
        std::string_view x(a.data() + first_i, i - first_i), y(b.data() + first_j, j - first_j);
        x.remove_prefix((std::min)(x.find_first_not_of('0'), x.size()));
        y.remove_prefix((std::min)(y.find_first_not_of('0'), y.size()));
        if (x.size() != y.size()) return x.size() < y.size();
        if (x != y) return x < y;
    }
    if ((i == a.size()) != (j == b.size())) return i == a.size();
    return a < b; // 01 and 1
}

bool is_marker(std::string const& name) {
    return name.starts_with('.') || name.starts_with("appstatus_") || name == "_SUCCESS" ||
           name.ends_with(".crc") || name.ends_with("_conf.xml") || name.ends_with(".summary");
}

// The 12 of events_12_app-1.zstd; nothing unless it is a part of a rolled log.
std::optional<std::int64_t> part_number(std::string_view name) {
    if (!name.starts_with("events_")) return std::nullopt;
    name.remove_prefix(7);
    return whole_number(name.substr(0, name.find('_')));
}

// A compacted part contains what the parts up to its number contained.
void drop_compacted(std::vector<std::string>& names) {
    std::optional<std::int64_t> newest;
    for (std::string const& name : names)
        if (name.ends_with(".compact"))
            if (auto const n = part_number(name); n && *n > newest.value_or(-1)) newest = n;
    if (!newest) return;
    std::erase_if(names, [&](std::string const& name) {
        auto const n = part_number(name);
        return n && (*n < *newest || (*n == *newest && !name.ends_with(".compact")));
    });
}

void add_folder(fs::path const& folder, int depth, std::vector<std::string>& files) {
    constexpr int deepest = 8;
    std::vector<std::string> names, folders;
    std::error_code fault;
    for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault)) {
        std::string const name = at->path().filename().string();
        std::error_code ignored;
        if (is_marker(name)) continue;
        if (at->is_directory(ignored) && !at->is_symlink(ignored))
            folders.push_back(name);
        else if (at->is_regular_file(ignored))
            names.push_back(name);
    }
    if (fault)
        throw program::failure(program::exit_status::bad_input, folder.string() + ": " + fault.message());
    drop_compacted(names);
    std::sort(names.begin(), names.end(), natural_less);
    std::sort(folders.begin(), folders.end(), natural_less);
    for (std::string const& name : names) files.push_back((folder / name).string());
    if (depth < deepest)
        for (std::string const& name : folders) add_folder(folder / name, depth + 1, files);
}

} // namespace

std::vector<std::string> files_of(std::vector<std::string> const& paths) {
    std::vector<std::string> files;
    for (std::string const& path : paths) {
        std::error_code ignored;
        if (path != "-" && fs::is_directory(path, ignored))
            add_folder(path, 0, files);
        else
            files.push_back(path);
    }
    if (files.empty() && !paths.empty())
        throw program::failure(program::exit_status::bad_input,
                               paths.front() + ": no file in this directory");
    return files;
}

} // namespace readers
