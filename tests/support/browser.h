#pragma once

#include <string>

/// What happened when Chromium opened a page.
struct Visit {
  std::string console;  // errors and warnings, one a line
  std::string result;   // arguments of note() in the script, one a line
};

/// Whether Chromium is installed; if not, prints that the test is skipped.
bool has_browser();

/// Opens a page `width` pixels wide without a network connection and runs `script` in it. Files to which the
/// page refers must be in its folder.
Visit visit(const std::string& path, const std::string& script, int width = 1280);

/// A script that notes layout faults: a page wider than its window, text smaller than 10 pixels.
extern const char* const kLayoutFaults;
