#pragma once

#include "tests/support/tab.h"

/// Whether Chromium is installed; if not, prints that the test is skipped.
bool has_browser();

/// A tab that tests use one after the other, each with a page of its own and an empty console.
Tab& shared_tab();

/// What happened when Chromium opened a page.
struct Visit {
  std::string console;  // errors and warnings, one a line
  std::string result;   // arguments of note() in the script, one a line
};
/// Opens a page `width` pixels wide and runs `script` in it, which may wait.
Visit visit(const std::string& path, const std::string& script, int width = 1280,
            Scheme scheme = Scheme::light);

/// A page as Chromium paints it, in shades from 0, black, to 255, white.
struct Screenshot {
  int width, height;
  std::vector<uint8_t> shades;  // row by row

  uint8_t at(int x, int y) const { return shades[static_cast<size_t>(y * width + x)]; }
};
Screenshot screenshot(const std::string& path, int width, int height);

/// A script that notes layout faults: a page wider than its window, text smaller than 10 pixels, text that a
/// picture cuts off.
extern const char* const kLayoutFaults;
/// A script that notes text with a contrast below 4.5 to the color behind it.
extern const char* const kContrastFaults;
