#pragma once

#include <string>

/// What a page did in Chromium.
struct Visit {
  std::string console;  // what it complained of, a line each
  std::string result;   // what the script gave note(), a line each
};

/// Without Chromium the tests of pages are skipped, and say so.
bool has_browser();

/// Opens a page, which is beside what it refers to, without a network and `width` pixels wide; then runs
/// `script` in it.
Visit visit(const std::string& path, const std::string& script, int width = 1280);

/// A script that notes all that is wrong with how a page is laid out: wider than its window, letters below 10
/// pixels.
extern const char* const kLayoutFaults;
