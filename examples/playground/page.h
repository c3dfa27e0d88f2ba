#pragma once

#include <string>

/// The page of the playground: one file that loads nothing.
namespace program {

/// Joins the files of a folder, and `wasm`, the bytes of playground.wasm. The gaps of page.html are filled:
/// {{css}} by the variables of nn/view/look.css and page.css, {{js}} by all scripts, {{strings}} by the words
/// of each language (strings.en.json, strings.zh.json), {{defaults}} by the first request of each function,
/// {{record}} by `record`, JSON (see recorded_training()), and {{wasm}} by the bytes as base64. Errors: a
/// file is missing; a script that the page does not know.
std::string playground_page(const std::string& folder, const std::string& wasm,
                            const std::string& record = "{}");

/// The bytes of playground.wasm. Throws an Error that names the packages to install if it was not built.
std::string playground_wasm();

}  // namespace program
