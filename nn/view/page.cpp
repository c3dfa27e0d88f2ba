#include "nn/view/page.h"

#include <nlohmann/json.hpp>

#include "nn/view/markup.h"

namespace heed {

// page.html with page.css and page.js, embedded by cmake/embed_page.cmake.
extern const char page_template[];

using Json = nlohmann::ordered_json;

std::string attention_page(const std::vector<AttentionMap>& maps, const AttentionPageOptions& options) {
  Json all = Json::array();
  for (const AttentionMap& map : maps) {
    Json heads = Json::array();
    for (int64_t head = 0; head < map.heads(); ++head) {
      Json& numbers = heads.emplace_back(Json::array());  // ten-thousandths, which keeps the page small
      for (int64_t query = 0; query < std::ssize(map.queries); ++query) {
        const std::vector<bool> masked = map.masked(query, head);
        auto is_masked = masked.begin();
        for (const double weight : map.row(query, head))
          numbers.push_back(*is_masked++            ? Json(false)
                            : std::isfinite(weight) ? Json(std::llround(weight * 1e4))
                                                    : Json());
      }
    }
    all.push_back({{"sentence", map.sentence},
                   {"module", map.module},
                   {"name", detail::layer_name(map.module, detail::is_chinese(options.language))},
                   {"step", map.step},
                   {"queries", map.queries},
                   {"keys", map.keys},
                   {"weights", heads}});
  }
  return detail::filled(page_template, {{"language", detail::escaped(options.language)},
                                        {"title", detail::escaped(options.title)},
                                        {"data", detail::script_json(all.dump())}});
}

}  // namespace heed
