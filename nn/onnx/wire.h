#pragma once

#include <cstring>
#include <map>
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
namespace heed::onnx::wire {

/// Numbers that are varints.
template <class T>
concept Varint = std::is_same_v<T, int64_t> || std::is_enum_v<T>;
/// Numbers of 4 or 8 bytes.
template <class T>
concept Fixed = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// The wire type of a number.
template <class T>
constexpr uint64_t wire_type = Varint<T>        ? 0
                               : sizeof(T) == 4 ? 5
                                                : 1;

/// Writes a message.
class Writer {
 public:
  std::string bytes;

  /// Writes a number unless it is 0, a text unless it is empty, or a message.
  template <class T>
  void operator()(uint64_t number, const T& value) {
    if constexpr (Varint<T> || Fixed<T> || std::is_same_v<T, std::string>)
      if (value == T()) return;
    put(number, value);
  }
  /// Writes a value if it is `present`.
  void operator()(uint64_t number, const auto& value, bool present) {
    if (present) put(number, value);
  }
  /// Writes a message unless it is nullopt.
  template <class T>
  void operator()(uint64_t number, const std::optional<T>& value) {
    if (value) put(number, *value);
  }
  /// Writes a list of numbers, packed.
  template <class T>
    requires Varint<T> || Fixed<T>
  void operator()(uint64_t number, const std::vector<T>& values) {
    Writer list;
    for (const T value : values) list.put(value);
    (*this)(number, list.bytes);
  }
  /// Writes a list of texts or messages.
  template <class T>
  void operator()(uint64_t number, const std::vector<T>& values) {
    for (const T& value : values) put(number, value);
  }
  /// Writes a map as messages of two fields.
  template <class T>
  void operator()(uint64_t number, const std::map<std::string, T>& values) {
    for (const auto& entry : values)
      inside(number, [&](Writer& f) { f(1, entry.first), f(2, entry.second); });
  }
  /// Writes a nested message, whose fields write(f) writes, unless it is empty.
  void inside(uint64_t number, const auto& write) {
    Writer message;
    write(message);
    (*this)(number, message.bytes);
  }

 private:
  void put(uint64_t number, const std::string& text) {
    put(number << 3 | 2), put(text.size());
    bytes += text;
  }
  template <class T>
  void put(uint64_t number, const T& value) {
    if constexpr (Varint<T> || Fixed<T>) {
      put(number << 3 | wire_type<T>), put(value);
    } else {
      Writer message;
      fields(message, const_cast<T&>(value));  // which only reads it
      put(number, message.bytes);
    }
  }
  template <class T>
  void put(T value) {
    if constexpr (Fixed<T>) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      auto left = static_cast<uint64_t>(value);
      for (; left >= 0x80; left >>= 7) bytes += static_cast<char>(left | 0x80);
      bytes += static_cast<char>(left);
    }
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
      const std::string_view value = rest_;
      read(*this);
      if (rest_.data() == value.data()) skip();
    }
  }
  /// Reads the value if the field has this number. Lists and maps grow; other values are replaced.
  void operator()(uint64_t number, auto& value, bool /*present*/ = true) {
    if (number == number_) get(value);
  }
  /// Reads a nested message with read(f).
  void inside(uint64_t number, const auto& read) {
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
    for (int shift = 0; shift < 64; shift += 7) {
      require(!rest_.empty(), "the file ends in a number");
      const auto byte = static_cast<uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    require(false, "a number has more than ten bytes");
    return 0;
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
  template <class T>
  T element() {
    if constexpr (Varint<T>) return static_cast<T>(varint());
    T value{};
    if constexpr (Fixed<T>) std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  void get(std::string& text) {
    expect(2);
    text = take(varint());
  }
  template <class T>
  void get(T& value) {
    if constexpr (Varint<T> || Fixed<T>) {
      expect(wire_type<T>);
      value = element<T>();
    } else {
      read(nested(), value);
    }
  }
  template <class T>
  void get(std::optional<T>& value) {
    get(value ? *value : value.emplace());
  }
  template <class T>
  void get(std::vector<T>& values) {
    if constexpr (Varint<T> || Fixed<T>) {
      if (type_ == 2)  // packed
        for (Reader list = nested(); !list.rest_.empty();) values.push_back(list.element<T>());
      else
        get(values.emplace_back());
    } else {
      get(values.emplace_back());
    }
  }
  template <class T>
  void get(std::map<std::string, T>& values) {
    std::string key;
    T value{};
    nested().message([&](Reader& f) { f(1, key), f(2, value); });
    values[key] = value;
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
