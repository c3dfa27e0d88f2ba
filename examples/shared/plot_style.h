#pragma once

#include <string>

/// The common look of the pictures that gnuplot draws.
namespace program {

/// A program for gnuplot, NAME.gp, that draws NAME.svg by these commands. The picture is narrow and its
/// letters are large, so that they have at least 10 pixels on a telephone. It becomes higher if a legend
/// needs the space of the graph. A long title continues on a second line. The variable `target`, if it is
/// set, is the file instead.
std::string gnuplot_program(const std::string& name, const std::string& commands);

}  // namespace program
