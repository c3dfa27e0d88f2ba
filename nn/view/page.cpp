#include "nn/view/page.h"

#include <nlohmann/json.hpp>

#include "autograd/ops/shape.h"
#include "nn/view/markup.h"

namespace heed {

// page.html with page.css and page.js, embedded by cmake/embed_page.cmake.
extern const char page_template[];

using Json = nlohmann::ordered_json;

static std::string json(const std::vector<AttentionMap>& maps) {
  Json all = Json::array();
  for (const AttentionMap& map : maps) {
    Json heads = Json::array();
    for (const Tensor& head : split(map.weights, 1)) {
      Json& numbers = heads.emplace_back(Json::array());  // ten-thousandths, which keeps the page small
      for (const double weight : head.to_vector<double>())
        numbers.push_back(std::isfinite(weight) ? Json(std::llround(weight * 1e4)) : Json());
    }
    all.push_back({{"sentence", map.sentence},
                   {"module", map.module},
                   {"step", map.step},
                   {"queries", map.queries},
                   {"keys", map.keys},
                   {"weights", heads}});
  }
  return detail::script_json(all.dump());
}

std::string attention_page(const std::vector<AttentionMap>& maps, const AttentionPageOptions& options) {
  return detail::filled(page_template, {{"language", detail::escaped(options.language)},
                                        {"title", detail::escaped(options.title)},
                                        {"data", json(maps)}});
}

}  // namespace heed
