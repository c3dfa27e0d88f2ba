#pragma once

#include <algorithm>
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
/// A message is a struct with one function for both directions, found by its argument:
///
///   void fields(auto& f, Node& node) {
///     f(1, node.input);  // field 1
///     f(3, node.name);
///   }
///
/// A value is an int64_t or enum, a float or double, a string, a message, or an optional, shared_ptr, vector
/// or map of these.
namespace heed::onnx::wire {

/// Numbers of 4 or 8 bytes.
template <class T>
concept Fixed = std::is_floating_point_v<T>;
/// Numbers; all but the fixed ones are varints.
template <class T>
concept Number = std::is_same_v<T, int64_t> || std::is_enum_v<T> || Fixed<T>;
/// Vectors.
template <class T>
concept List = std::is_same_v<T, std::vector<typename T::value_type>>;
/// Maps from strings.
template <class T>
concept Map = requires { typename T::key_type; };
/// A value or nullopt.
template <class T>
concept Optional = std::is_same_v<T, std::optional<typename T::value_type>>;
/// A value or null.
template <class T>
concept Pointer = std::is_same_v<T, std::shared_ptr<typename T::element_type>>;

/// The wire type of a value.
template <class T>
constexpr uint64_t wire_type = !Number<T>       ? 2
                               : !Fixed<T>      ? 0
                               : sizeof(T) == 4 ? 5
                                                : 1;

/// Writes a message.
class Writer {
 public:
  std::string bytes;

  /// Writes a value unless it is 0 or empty.
  template <class T>
  void operator()(uint64_t number, const T& x) {
    if constexpr (Number<T> || std::is_same_v<T, std::string>)
      (*this)(number, x, x != T());
    else
      (*this)(number, x, true);
  }
  /// Writes a value if it is `present`. Lists of numbers are packed.
  template <class T>
  void operator()(uint64_t number, const T& x, bool present) {
    if (!present) return;
    if constexpr (Optional<T> || Pointer<T>) return x ? (*this)(number, *x) : void();
    if constexpr (Number<T>) put(number << 3 | wire_type<T>), put(x);
    if constexpr (std::is_same_v<T, std::string>) put(number << 3 | 2), put(x.size()), bytes += x;
    if constexpr (Map<T>)
      for (const auto& entry : x) inside(number, [&](Writer& f) { f(1, entry.first), f(2, entry.second); });
    if constexpr (List<T>) {
      if constexpr (!Number<typename T::value_type>)
        for (const auto& value : x) (*this)(number, value, true);
      else if (!x.empty())
        inside(number, [&](Writer& f) { std::ranges::for_each(x, [&](auto value) { f.put(value); }); });
    }
    if constexpr (requires(Writer& f, T& y) { fields(f, y); })
      inside(number, [&](Writer& f) { fields(f, const_cast<T&>(x)); });  // which only reads it
  }
  /// Writes a nested message, whose fields write(f) writes.
  void inside(uint64_t number, const auto& write, bool present = true) {
    Writer message;
    write(message);
    (*this)(number, message.bytes, present);
  }

 private:
  template <class T>
  void put(T value) {
    if constexpr (Fixed<T>) return void(bytes.append(reinterpret_cast<const char*>(&value), sizeof value));
    auto left = static_cast<uint64_t>(value);
    for (; left >= 0x80; left >>= 7) bytes += static_cast<char>(left | 0x80);
    bytes += static_cast<char>(left);
  }
};

/// Reads a message. Throws Errors with the position of the byte for everything that is malformed.
class Reader {
 public:
  static constexpr int kMaxDepth = 64;  ///< of nested messages

  Reader(std::string_view bytes, const std::string& where) : Reader(bytes, bytes.data(), where, 0) {}

  /// Calls read(f) for every field. It calls f(number, value) for each field of the message; values of other
  /// fields stay.
  void message(const auto& read) {
    while (!rest_.empty()) {
      const uint64_t key = varint();
      number_ = key >> 3, type_ = key & 7;
      require(number_ > 0 && number_ < 1U << 29, "a field has the number ", number_);
      const char* value = rest_.data();
      read(*this);
      if (rest_.data() == value) skip();
    }
  }
  /// Reads the value if the field has this number. Lists and maps grow; other values are replaced.
  void operator()(uint64_t number, auto& value, bool /*present*/ = true) {
    if (number == number_) get(value);
  }
  /// Reads a nested message with read(f).
  void inside(uint64_t number, const auto& read, bool /*present*/ = true) {
    if (number == number_) nested().message(read);
  }
  /// Throws an Error with the position of the next byte unless `condition` holds.
  void require(bool condition, const auto&... what) const {
    check(condition, where_, ": byte ", rest_.data() - begin_, ": ", what...);
  }

 private:
  Reader(std::string_view bytes, const char* begin, const std::string& where, int depth)
      : rest_(bytes), begin_(begin), where_(where), depth_(depth) {}

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
  void expect(uint64_t type) const {
    require(type_ == type, "field ", number_, " has the wire type ", type_, " and must have ", type);
  }
  void skip() {
    if (type_ == 0) return void(varint());
    require(type_ == 1 || type_ == 2 || type_ == 5, "field ", number_, " has the wire type ", type_,
            "; known are 0, 1, 2 and 5");
    take(type_ == 1 ? 8 : type_ == 5 ? 4 : varint());
  }
  Reader nested() {
    expect(2);
    require(depth_ < kMaxDepth, "messages are nested more than ", kMaxDepth, " levels deep");
    return {take(varint()), begin_, where_, depth_ + 1};
  }

  template <Number T>
  void read_number(T& x) {
    if constexpr (Fixed<T>)
      std::memcpy(&x, take(sizeof x).data(), sizeof x);
    else
      x = static_cast<T>(varint());
  }
  template <class T>
  void get(T& x) {
    if constexpr (Number<T>) {
      expect(wire_type<T>);
      read_number(x);
    } else if constexpr (std::is_same_v<T, std::string>) {
      expect(2);
      x = take(varint());
    } else if constexpr (Optional<T>) {
      get(x ? *x : x.emplace());
    } else if constexpr (Pointer<T>) {
      std::remove_const_t<typename T::element_type> pointee{};
      get(pointee);
      x = std::make_shared<typename T::element_type>(std::move(pointee));
    } else if constexpr (Map<T>) {
      std::pair<std::string, typename T::mapped_type> entry;
      nested().message([&](Reader& f) { f(1, entry.first), f(2, entry.second); });
      x[entry.first] = entry.second;
    } else if constexpr (List<T>) {
      if constexpr (Number<typename T::value_type>)
        if (type_ == 2) {  // packed
          for (Reader list = nested(); !list.rest_.empty();) list.read_number(x.emplace_back());
          return;
        }
      get(x.emplace_back());
    } else {
      read(nested(), x);
    }
  }

  std::string_view rest_;
  const char* begin_;  // of the file
  const std::string& where_;
  int depth_;
  uint64_t number_ = 0, type_ = 0;  // of the current field
};

/// Reads the fields of a message. A message with something to do after its last field has a function of this
/// name of its own.
template <class Message>
void read(Reader f, Message& message) {
  f.message([&](Reader& g) { fields(g, message); });
}

}  // namespace heed::onnx::wire
