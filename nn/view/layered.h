#pragma once

#include <cstddef>
#include <vector>

/// Where the boxes of a drawn graph stand.
namespace heed {

/// A box of a drawn graph: its size is given, its left upper corner is found.
struct LayeredBox {
  double width, height;  ///< given
  double x = 0, y = 0;   ///< found: the left upper corner
};

/// A place in the drawing: x to the right, y down.
struct LayeredPoint {
  double x, y;  ///< from the left upper corner of the drawing
};

/// From the lower edge of a box down to the upper edge of one that comes after it.
struct LayeredEdge {
  size_t from, to;                        ///< the upper box; the lower one, a later number
  std::vector<LayeredPoint> points = {};  ///< found: on the way around the boxes between them
};

/// What layered() gives.
struct Layered {
  std::vector<LayeredBox> boxes;   ///< with their corners
  std::vector<LayeredEdge> edges;  ///< with their points
  double width = 0, height = 0;    ///< of all
};

/// Lays boxes out in layers from top to bottom, so that every edge leads down: from < to of each. Boxes stand
/// as low as what comes after them allows; within a layer they are ordered by the mean place of their
/// neighbours, which leaves few crossings, and stand as near to it as the others allow.
///
/// Source: K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding of hierarchical system
/// structures, 1981.
Layered layered(std::vector<LayeredBox> boxes, std::vector<LayeredEdge> edges);

}  // namespace heed
