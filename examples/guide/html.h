#pragma once

#include <functional>
#include <string>
#include <string_view>

/// Edits of HTML and SVG that programs wrote: searches for tags and attributes, without a tree.
namespace program {

using TextEdit = std::function<std::string(const std::string& text)>;

/// Replaces each part that begins with `begin` and ends with the next `end`, both included, by edit(part).
std::string with_parts(const std::string& text, std::string_view begin, std::string_view end,
                       const TextEdit& edit);

/// Replaces each text between tags by edit(text). Comments, styles and scripts stay as they are.
std::string with_texts(const std::string& markup, const TextEdit& edit);

/// Replaces the value of each attribute by edit(name, value).
std::string with_attributes(
    const std::string& markup,
    const std::function<std::string(const std::string& name, const std::string& value)>& edit);

/// The value of an attribute in the inside of a tag, such as ` file="a.cpp" from="int f("`; "" without it.
std::string attribute_in(const std::string& tag, const std::string& name);
/// The value of the first attribute of this name in any tag; "" without it.
std::string attribute_of(const std::string& markup, const std::string& name);

/// Replaces &lt; &gt; &quot; &amp; and numeric references by their characters, the inverse of escaping.
std::string unescaped(const std::string& text);

}  // namespace program
