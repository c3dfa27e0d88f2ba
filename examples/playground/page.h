#pragma once

#include <string>

/// The playground as a page, one file that loads nothing, and its benches for other pages.
namespace program {

/// The script of all benches, made of the files of a folder, for any page with <heed-bench> elements.
///
/// It begins with the constant `given`: strings, the words of each language (strings.en.json,
/// strings.zh.json); defaults, the first request of each function and its answer; record, JSON (see
/// recorded_training()); wasm, playground_wasm() as base64. The scripts follow, without page.js.
/// Errors: a file is missing; a script that is in no order with the others.
std::string benches_script(const std::string& folder, const std::string& wasm, const std::string& record);

/// The style of benches that run, bench.css. It needs the variables of nn/view/look.css.
std::string benches_style(const std::string& folder);

/// The page of all benches. The gaps of page.html are filled: {{css}} by nn/view/look.css, page.css and the
/// style of benches, {{js}} by the script of benches and page.js.
std::string playground_page(const std::string& folder, const std::string& wasm,
                            const std::string& record = "{}");

/// Whether playground.wasm was built.
bool has_playground_wasm();

/// playground.wasm, packed by gzip. Throws an Error that names the packages to install if it was not built.
std::string playground_wasm();

}  // namespace program
