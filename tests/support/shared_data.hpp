/// @file
/// Finds the reference data that lives beside the project, never in it. Tests that need it skip with a
/// message when it is absent.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#ifndef STRAGGLE_SHARED_DIR
#define STRAGGLE_SHARED_DIR ""
#endif

namespace straggle_test {

/// The path of a reference file, or nothing (and a message in the test log) when it is not on this machine.
/// The environment variable STRAGGLE_SHARED_DIR overrides the folder chosen at configure time.
inline std::optional<std::filesystem::path> shared_file(std::string const& relative) {
    char const* const from_environment = std::getenv("STRAGGLE_SHARED_DIR");
    std::filesystem::path const root = from_environment ? from_environment : STRAGGLE_SHARED_DIR;
    if (!root.empty()) {
        std::filesystem::path candidate = root / relative;
        if (std::filesystem::exists(candidate)) return candidate;
    }
    MESSAGE("skipped: reference data absent: ", relative);
    return std::nullopt;
}

} // namespace straggle_test
