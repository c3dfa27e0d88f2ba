#pragma once

#include <cstddef>
#include <vector>

/// The layout of a drawn graph.
namespace heed {

/// A box of a drawn graph. The caller sets its size, and layered() its upper left corner.
struct LayeredBox {
  double width, height;
  double x = 0, y = 0;
};

/// A point of the drawing: x to the right, y down, from the upper left corner.
struct LayeredPoint {
  double x, y;
};

/// A line from the lower edge of a box to the upper edge of one with a greater index.
struct LayeredEdge {
  size_t from, to;                        ///< indices of boxes, from < to
  std::vector<LayeredPoint> points = {};  ///< set by layered(): leads around the boxes in between
};

/// A graph with all positions, and the size of the drawing.
struct Layered {
  std::vector<LayeredBox> boxes;
  std::vector<LayeredEdge> edges;
  double width = 0, height = 0;
};

/// Places the boxes in layers from top to bottom, so that every edge leads down. Each box is in the lowest
/// layer that its successors allow. Within a layer, boxes are ordered by the mean position of their
/// neighbors, which leaves few crossings, and placed as close to it as the other boxes allow.
///
/// Source: K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding of hierarchical system
/// structures, 1981.
Layered layered(std::vector<LayeredBox> boxes, std::vector<LayeredEdge> edges);

}  // namespace heed
