#pragma once

#include <algorithm>
#include <concepts>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tensor/error.h"

/// The wire format of Protocol Buffers. A message is a sequence of fields: a key, number << 3 | type, and a
/// value. Types are
///
///   0  varint: 7 bits a byte, lowest first; the top bit says that more bytes follow
///   1  8 bytes
///   2  a varint, the length, and so many bytes: a string, a message, or a packed list of numbers
///   5  4 bytes
///
/// A message is a struct with one function for both directions:
///
///   void fields(auto& f) { f(1, input)(3, name); }
///
/// A value is an int64_t or enum, a float or double, a string, a message, or an optional, shared_ptr, vector
/// or map of these. A message without a struct is a function of f.
namespace heed::onnx::wire {

/// Numbers. Floating ones take 4 or 8 bytes, and the others are varints.
template <class T>
concept Number = std::is_same_v<T, int64_t> || std::is_enum_v<T> || std::is_floating_point_v<T>;
/// Vectors.
template <class T>
concept List = std::is_same_v<T, std::vector<typename T::value_type>>;
/// Lists of numbers, in one field.
template <class T>
concept PackedList = List<T> && Number<typename T::value_type>;
/// Maps from strings.
template <class T>
concept Map = requires { typename T::key_type; };

/// The wire type of a value.
template <class T>
constexpr uint64_t wire_type = std::is_floating_point_v<T> ? (sizeof(T) == 4 ? 5 : 1)
                               : Number<T>                 ? 0
                                                           : 2;

/// Lists the fields of a message.
void fields(auto& f, auto& message) {
  if constexpr (requires { message(f); })
    message(f);
  else
    message.fields(f);
}

/// Writes a message.
class Writer {
 public:
  std::string bytes;

  /// Writes a value if it is `present`, by default unless it is 0 or an empty string.
  template <class T>
  Writer& operator()(uint64_t number, const T& x, std::optional<bool> present = {}) {
    if constexpr (Number<T> || std::is_same_v<T, std::string>) present = present.value_or(x != T());
    if (present.value_or(true)) write(number, x);
    return *this;
  }

 private:
  template <class T>
  void write(uint64_t number, const T& x) {
    if constexpr (Number<T> || std::is_same_v<T, std::string>) {
      put(number << 3 | wire_type<T>);
      put(x);
    } else if constexpr (requires { *x; }) {  // optional or shared_ptr
      if (x) write(number, *x);
    } else if constexpr (PackedList<T>) {
      if (!x.empty())
        write(number, [&](Writer& f) { std::ranges::for_each(x, [&](auto each) { f.put(each); }); });
    } else if constexpr (List<T>) {
      for (const auto& each : x) write(number, each);
    } else if constexpr (Map<T>) {
      for (const auto& each : x) write(number, [&](Writer& f) { f(1, each.first)(2, each.second); });
    } else {
      Writer message;
      fields(message, const_cast<T&>(x));  // which only reads it
      write(number, message.bytes);
    }
  }
  void put(const std::string& x) {
    put(x.size());
    bytes += x;
  }
  void put(std::floating_point auto x) { bytes.append(reinterpret_cast<const char*>(&x), sizeof x); }
  void put(auto x) {
    auto left = static_cast<uint64_t>(x);
    for (; left >= 0x80; left >>= 7) bytes += static_cast<char>(left | 0x80);
    bytes += static_cast<char>(left);
  }
};

/// Reads a message. Throws Errors with the position of the byte for everything that is malformed.
class Reader {
 public:
  static constexpr int kMaxDepth = 64;  ///< of nested messages

  Reader(std::string_view bytes, const std::string& where)
      : rest_(bytes), begin_(bytes.data()), where_(where) {}

  /// Calls read_fields(f) for every field. It calls f(number, value) for each field of the message; values of
  /// other fields stay.
  void message(const auto& read_fields) {
    require(depth_ <= kMaxDepth, "messages are nested more than ", kMaxDepth, " levels deep");
    while (!rest_.empty()) {
      const uint64_t key = varint(), number = key >> 3, type = key & 7;
      require(number > 0 && number < 1U << 29, "a field has the number ", number);
      Reader field = *this;
      field.number_ = number;
      field.type_ = type;
      field.rest_ = take_value(type);
      ++field.depth_;
      read_fields(field);
      require(type <= 2 || type == 5, "field ", number, " has the wire type ", type,
              "; known are 0, 1, 2 and 5");
    }
  }
  /// Reads the value if the field has this number. Lists and maps grow; other values are replaced.
  Reader& operator()(uint64_t number, auto&& value, bool /*present*/ = true) {
    if (number == number_) get(value);
    return *this;
  }
  /// Throws an Error with the position of the next byte unless `condition` holds.
  void require(bool condition, const auto&... what) const {
    check(condition, where_, ": byte ", rest_.data() - begin_, ": ", what...);
  }

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      require(!rest_.empty(), "the file ends in a number");
      require(shift < 64, "a number has more than ten bytes");
      const auto byte = static_cast<uint8_t>(take(1)[0]);
      value |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string_view take(uint64_t count) {
    require(count <= rest_.size(), "a value of ", count, " bytes, and its message has ", rest_.size(),
            " left");
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  // The bytes of a value; none if the wire type is unknown.
  std::string_view take_value(uint64_t type) {
    if (type == 1 || type == 5) return take(type == 1 ? 8 : 4);
    if (type == 2) return take(varint());
    const std::string_view from = rest_;
    if (type == 0) varint();
    return from.substr(0, from.size() - rest_.size());
  }
  void expect(uint64_t type) const {
    require(type_ == type, "field ", number_, " has the wire type ", type_, " and must have ", type);
  }
  void take_number(std::floating_point auto& x) { std::memcpy(&x, take(sizeof x).data(), sizeof x); }
  template <class T>
  void take_number(T& x) {
    x = static_cast<T>(varint());
  }

  template <class T>
  void get(T& x) {
    if constexpr (PackedList<T>) {  // or each number in a field of its own
      expect(type_ == 2 ? 2 : wire_type<typename T::value_type>);
      while (!rest_.empty()) take_number(x.emplace_back());
    } else if constexpr (List<T>) {
      get(x.emplace_back());
    } else if constexpr (Map<T>) {
      std::pair<std::string, typename T::mapped_type> entry;
      const auto message = [&](Reader& f) { f(1, entry.first)(2, entry.second); };
      get(message);
      x[entry.first] = entry.second;
    } else if constexpr (requires { x.value(); }) {  // optional
      get(x ? *x : x.emplace());
    } else if constexpr (requires { x.use_count(); }) {  // shared_ptr
      const auto pointee = std::make_shared<std::remove_const_t<typename T::element_type>>();
      get(*pointee);
      x = pointee;
    } else {
      expect(wire_type<T>);
      if constexpr (Number<T>)
        take_number(x);
      else if constexpr (std::is_same_v<T, std::string>)
        x = rest_;
      else
        read(*this, x);
    }
  }

  std::string_view rest_;
  const char* begin_;  // of the file
  const std::string& where_;
  int depth_ = 0;
  uint64_t number_ = 0, type_ = 0;  // of the field
};

/// Reads the fields of a message. A message with something to do after its last field has a function of this
/// name of its own.
void read(Reader f, auto& message) {
  f.message([&](Reader& g) { fields(g, message); });
}

}  // namespace heed::onnx::wire
