#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What happened when Chromium opened a page.
struct Visit {
  std::string console;  // errors and warnings, one a line
  std::string result;   // arguments of note() in the script, one a line
};

/// Whether Chromium is installed; if not, prints that the test is skipped.
bool has_browser();

/// The colors that the reader prefers.
enum class Scheme { light, dark };

/// Opens a page `width` pixels wide without a network connection and runs `script` in it. Files to which the
/// page refers must be in its folder. The result is complete soon after the page is loaded, or when the
/// script sets `waiting` to false, if it has set it to true.
Visit visit(const std::string& path, const std::string& script, int width = 1280,
            Scheme scheme = Scheme::light);
/// Opens several pages side by side. The console is that of all; each line of the result begins with the name
/// of the page's file.
Visit visit_all(const std::vector<std::string>& paths, const std::string& script, int width,
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
