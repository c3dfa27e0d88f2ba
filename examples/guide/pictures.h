#pragma once

#include <string>

/// Pictures of runs as parts of a page: with its colors, in light and dark, and with ids of their own.
namespace program {

/// An SVG picture for use inside HTML.
///
/// Fixed colors become variables of page.css: black is --ink, white is --paper, and the colors of data have
/// variants for dark pages. The background is removed. Ids begin with `prefix`, so that several pictures can
/// be on one page. The picture is as wide as the page, as long as its smallest letters have 10 to 13 pixels
/// or the size that it was drawn with. `label` is what a screen reader says.
std::string inline_svg(const std::string& svg, const std::string& prefix, const std::string& label);

/// A color of a picture as CSS: a variable of page.css with the color as its fallback, or the color itself if
/// the page has no variable for it. Colors of the scale of heat maps, from 0 to 1, become --heat-0 to
/// --heat-100.
std::string page_color(const std::string& color);

/// Declarations of --heat-0 to --heat-100 for dark pages.
std::string dark_heat_scale();

}  // namespace program
