#include "nn/files/safetensors.h"

#include "nn/layers/linear.h"
#include "tests/support/expect.h"
#include "tests/support/parity.h"
#include "tests/support/program.h"

using parity::Json;

// The bytes of a file with this header and data.
static std::string file_of(const std::string& header, const std::string& data = "") {
  std::string length(8, '\0');
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> (8 * i));
  return length + header + data;
}

static std::string hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes)
    for (const int shift : {4, 0}) text += "0123456789abcdef"[static_cast<unsigned char>(byte) >> shift & 15];
  return text;
}

// The error for a file with these bytes, without its path.
static std::string why(const std::string& bytes) {
  const Folder folder;
  const std::string path = folder.write("x", bytes), start = "load_safetensors: " + path + ": ";
  const std::string text = message([&] { load_safetensors(path); });
  REQUIRE_MESSAGE(text.starts_with(start), bytes.substr(0, 200));
  return text.substr(start.size());
}

// The tensor of a file that contains only it.
static Tensor loaded(const Folder& folder, const char* dtype, const std::string& shape,
                     const std::string& data) {
  const std::string header = std::string(R"({"x":{"dtype":")") + dtype + R"(","shape":)" + shape +
                             R"(,"data_offsets":[0,)" + std::to_string(data.size()) + "]}}";
  return load_safetensors(folder.write("x", file_of(header, data))).tensors.at("x");
}

TEST_CASE("safetensors: the bytes of a small file") {
  const Folder folder;
  save_safetensors(folder / "x",
                   {{"a", tensor({true}, boolean)}, {"w", tensor({{1, 2}})}, {"层", tensor(2.5, float64)}},
                   {{"format", "pt"}});
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"a":{"data_offsets":[16,17],"dtype":"BOOL","shape":[1]},)"
      R"("w":{"data_offsets":[8,16],"dtype":"F32","shape":[1,2]},)"
      R"("层":{"data_offsets":[0,8],"dtype":"F64","shape":[]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  CHECK(read_file(folder / "x") == file_of(header + padding, std::string("\0\0\0\0\0\0\4\x40"
                                                                         "\0\0\x80\x3f\0\0\0\x40\1",
                                                                         17)));
  save_safetensors(folder / "x", {});
  CHECK(read_file(folder / "x") == file_of("{}      "));
  CHECK(load_safetensors(folder / "x").tensors.empty());
}

TEST_CASE("safetensors: saves and loads every bit") {
  const Folder folder;
  const Tensor wide = tensor({{1, kNaN, -0.0}, {kInf, 5e-324, -kInf}}, float64);
  const StateDict given = {{"wide", wide},
                           {"transposed", transpose(wide)},
                           {"repeated", expand(tensor({{1.5}}), {3, 2})},
                           {"slice", slice(arange(10), 0, 3, 7)},
                           {"scalar", tensor(-0.0)},
                           {"empty", zeros({0, 3})},
                           {"empty at the end", zeros({2, 0}, boolean)},
                           {"integers", from_vector<int64_t>({INT64_MIN, 0, (int64_t{1} << 53) + 1}, {3})},
                           {"bools", tensor({{1, 0}, {0, 1}}, boolean)},
                           {"learned", tensor({1, 2}).requires_grad_()},
                           {"\"quoted\"\n\\ 层.\U0001F600", ones({1, 1, 1, 1, 1, 1, 1, 2})},
                           {"", ones({1})}};
  const Metadata texts = {{"", ""}, {"note", "caf\u00e9 \"x\"\n"}, {"__metadata__", "may be a key"}};
  save_safetensors(folder / "x", given, texts);
  const Safetensors file = load_safetensors(folder / "x");
  CHECK(file.metadata == texts);
  CHECK(load_metadata(folder / "x") == texts);
  CHECK(file.tensors.size() == given.size());
  for (const auto& [name, x] : given) {
    CAPTURE(name);
    const Tensor& y = file.tensors.at(name);
    CHECK(y.dtype() == x.dtype());
    CHECK(y.shape() == x.shape());
    CHECK(y.is_contiguous());
    CHECK(!y.requires_grad());
    CHECK(bytes_of(y) == bytes_of(x));
  }
}

TEST_CASE("safetensors: 16-bit floats become float32, and integers int64") {
  const Folder folder;
  const auto load = [&](const char* dtype, int64_t count, const std::string& data) {
    const Tensor x = loaded(folder, dtype, "[" + std::to_string(count) + "]", data);
    CHECK(x.dtype() == (dtype[0] == 'F' || dtype[0] == 'B' ? float32 : int64));
    return values(x);
  };
  CHECK(load("F16", 8, std::string("\0\x3c\0\xb8\xff\x7b\1\0\xff\3\0\4\0\x7c\0\xfc", 16)) ==
        Values{1, -0.5, 65504, 0x1p-24, 1023 * 0x1p-24, 0x1p-14, kInf, -kInf});
  CHECK(std::isnan(load("F16", 1, "\1\x7e")[0]));
  CHECK(std::signbit(load("F16", 1, std::string("\0\x80", 2))[0]));
  CHECK(load("BF16", 3, std::string("\x80\x3f\0\xc0\x80\xff", 6)) == Values{1, -2, -kInf});
  CHECK(load("I8", 2, "\x80\3") == Values{-128, 3});
  CHECK(load("U8", 2, "\xff\4") == Values{255, 4});
  CHECK(load("I16", 1, std::string("\0\x80", 2)) == Values{-32768});
  CHECK(load("U16", 1, "\xff\xff") == Values{65535});
  CHECK(load("I32", 1, std::string("\0\0\0\x80", 4)) == Values{-2147483648.0});
  CHECK(load("U32", 1, "\xff\xff\xff\xff") == Values{4294967295.0});
  const Tensor many =
      loaded(folder, "U8", "[10,1000]", std::string(9999, '\2') + "\5");  // more than one block
  CHECK(sum(many).item<int64_t>() == 20003);
  CHECK(values(many).back() == 5);
}

TEST_CASE("safetensors: the collected valid and invalid files") {
  const std::string folder = parity::folder() + "/safetensors/";
  const Json index = Json::parse(read_file(folder + "index.json"));
  int count = 0;
  for (const Json& row : index.at("files")) {
    ++count;
    const std::string file = row.at("file"), verdict = row.at("verdict");
    CAPTURE(file);
    Safetensors got;
    const std::string refused = message([&] { got = load_safetensors(folder + file); });
    if (!refused.empty()) {
      CHECK(refused.starts_with("load_safetensors: " + folder + file + ": "));
      CHECK_MESSAGE(verdict != "valid", refused);
      continue;
    }
    CHECK_MESSAGE(verdict != "invalid", row.at("why").get<std::string>());
    if (row.contains("metadata")) CHECK(got.metadata == row["metadata"].get<Metadata>());
    if (!row.contains("tensors")) continue;
    if (row.at("tags") != Json{"partial_expectation"}) CHECK(got.tensors.size() == row["tensors"].size());
    for (const auto& [name, want] : row["tensors"].items()) {
      CAPTURE(name);
      const Tensor& x = got.tensors.at(name);
      const std::string dtype = want.at("dtype");
      CHECK(x.shape() == Shape(want.at("shape").get<std::vector<int64_t>>()));
      if (dtype == "F32" || dtype == "F64" || dtype == "I64" || dtype == "BOOL")
        CHECK(hex(bytes_of(x)) == want.at("hex").get<std::string>());
      else
        CHECK(values(x) == want.at("values").get<Values>());
    }
  }
  CHECK(count == index.at("count"));
}

TEST_CASE("safetensors: errors name the format of another file") {
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"\x93NUMPY\1", "a NumPy file; load_npy reads it"},
      {"PK\3\4\x14", "a zip archive (.pt, .npz)"},
      {"\x80\2\x8a\n", "a Python pickle"},
      {"\x80\4\x95", "a Python pickle"},
      {"\x1f\x8b\x08", "a gzip file"},
      {"\x89HDF\r\n", "an HDF5 file"},
      {"GGUF\3", "a GGUF file"},
      {"<!DOCTYPE html>", "an HTML page"},
      {"{\"step\": 1, \"loss\": 2}", "JSON"},
      {"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"},
      {"1,2\n3,4\n5,6\n", "text"},
      {"weights", "text"},
  };
  for (const auto& [start, kind] : kinds)
    for (const std::string& rest : {std::string(), std::string(100, '\0')}) {
      CAPTURE(kind);
      if (kind == "text" && !rest.empty()) continue;
      CHECK(why(start + rest).starts_with("is not a safetensors file; it looks like " + kind));
    }
  for (const std::string& unknown :
       {std::string(), std::string(7, '\1'), std::string(8, '\xff'), std::string(100, '\0'), file_of(""),
        file_of(" {}"), file_of("[1]"), file_of("\xef\xbb\xbf{}"), std::string(8, '\0') + "{}"})
    CHECK(why(unknown) == "is not a safetensors file");
}

TEST_CASE("safetensors: errors of malformed files name the tensor or byte") {
  const auto header = [&](const std::string& text) { return why(file_of(text, "12345678")); };
  const auto entry = [&](const std::string& text) { return header(R"({"a":)" + text + "}"); };

  CHECK(why(std::string("\0\xe1\xf5\5\0\0\0\0{", 9)) ==
        "its header takes 100000000 bytes, and the file has 1 there");
  CHECK(header(std::string("{}\0", 3)) == "the header is not JSON at its byte 2: it is 0");
  CHECK(header("{}") == "the tensors end at byte 0 of the data, which has 8");
  CHECK(header("{} {}") ==
        "the header is not JSON at its byte 4: syntax error while parsing value - unexpected '{'; expected "
        "end of input");
  CHECK(header("{\"\xc0\xaf\":1}") ==
        "the header is not JSON at its byte 3: syntax error while parsing object key - invalid string: "
        "ill-formed UTF-8 byte");
  CHECK(entry("1e999") == "the header contains a number that is too large");
  for (const char* text :
       {"{", "{\"a\"", "{'a':1}", "{/**/}", "{\"a\":+1}", "{\"a\":.5}", "{\"a\":NaN}", "{\"a\":True}", "{,}",
        "{\"a\\u0\":1}", "{\"\\udc00\":1}", "{\"\xed\xa0\x80\":1}", "{\"\t\":1}", "{}\xa0"})
    CHECK(header(text).starts_with("the header is not JSON at its byte "));

  CHECK(entry("null") == R"(tensor "a" is a JSON null and must be an object)");
  CHECK(entry("[1]") == R"(tensor "a" is a JSON array and must be an object)");
  CHECK(entry("{}") == R"(tensor "a" has no dtype)");
  CHECK(entry(R"({"dtype":"F32","data_offsets":[0,8]})") == R"(tensor "a" has no shape)");
  const auto fits = [&](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return entry(R"({"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}");
  };
  const auto wrong = [&](const char* dtype, const char* shape, const char* offsets, const std::string& text) {
    CHECK(fits(dtype, shape, offsets) == "tensor \"a\"" + text);
  };
  wrong("1", "[2]", "[0,8]", ": dtype is 1 and must be a string");
  wrong(R"(["F32"])", "[2]", "[0,8]", ": dtype is a JSON array and must be a string");
  wrong(R"("F32")", "2", "[0,8]", ": shape is 2 and must be an array");
  wrong(R"("F32")", "{}", "[0,8]", ": shape is a JSON object and must be an array");
  CHECK(entry(R"({"dtype":"F32","dtype":"F32")") == R"(tensor "a": "dtype" appears twice)");
  CHECK(entry(R"({"dtype":"F32","d\u0074ype":"F32")") == R"(tensor "a": "dtype" appears twice)");
  const std::string rule = " and must contain whole numbers from 0, below 2^64";
  wrong(R"("F32")", "[-1]", "[0,8]", ": shape contains -1" + rule);
  wrong(R"("F32")", R"(["1"])", "[0,8]", ": shape contains a JSON string" + rule);
  wrong(R"("F32")", "[[1]]", "[0,8]", ": shape contains a JSON array" + rule);
  for (const char* number : {"-0", "1.0", "1e2", "18446744073709551616"})
    CHECK(fits(R"("F32")", "[2]", "[0," + std::string(number) + "]").ends_with(rule));
  wrong(R"("F8_E4M3")", "[8]", "[0,8]",
        R"(: dtype "F8_E4M3" is none of F32, F64, I64, BOOL, F16, BF16, I8, I16, I32, U8, U16, U32)");
  CHECK(contains(fits(R"("f32")", "[2]", "[0,8]"), "is none of"));
  wrong(R"("F32")", "[2]", "[0]", ": data_offsets are 1 numbers and must be two, begin and end");
  wrong(R"("F32")", "[2]", "[0,9]", ": data_offsets [0, 9] do not lie within the 8 bytes of data");
  wrong(R"("F32")", "[2]", "[8,0]", ": data_offsets [8, 0] do not lie within the 8 bytes of data");
  wrong(R"("F32")", "[3]", "[0,8]", ": shape [3] of F32 takes 12 bytes, and data_offsets [0, 8] are 8");
  wrong(R"("F32")", "[4611686018427387904]", "[0,0]",
        ": the sizes of shape [4611686018427387904] multiplied are too large");
  CHECK(contains(fits(R"("F32")", "[4611686018427387904,4,0]", "[0,0]"), "multiplied are too large"));
  wrong(R"("F32")", "[9223372036854775808,0]", "[0,0]", ": a size of 9223372036854775808 is too large");
  wrong(R"("BOOL")", "[8]", "[0,8]", ": element 0 is a bool stored as 49; it must be 0 or 1");
  wrong(R"("F32")", "[1,1,1,1,1,1,1,1,2]", "[0,8]", ": a shape of 9 dimensions; a tensor has at most 8");
  CHECK(fits(R"("F32")", "[1]", "[0,4]") == "the tensors end at byte 4 of the data, which has 8");
  wrong(R"("F32")", "[1]", "[4,8]",
        " begins at byte 4 of the data and must begin at byte 0, where the one before it ends");

  const std::string whole = R"({"dtype":"F64","shape":[],"data_offsets":[0,8]})";
  CHECK(header(R"({"a":)" + whole + R"(,"a":)" + whole + "}") == R"(tensor "a" appears twice)");
  CHECK(header(R"({"a":)" + whole + R"(,"b":)" + whole + "}") ==
        R"(tensor "b" begins at byte 0 of the data and must begin at byte 8, where the one before it ends)");
  CHECK(header(R"({"a":)" + whole + R"(,"b":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}})")
            .starts_with(R"(tensor "b" begins at byte 4)"));
  CHECK(header(R"({"__metadata__":{},"__metadata__":{}})") == R"("__metadata__" appears twice)");
  CHECK(header(R"({"__metadata__":{"a":"","a":""}})") == R"("__metadata__": "a" appears twice)");
  CHECK(header(R"({"__metadata__":{"a":{}}})") ==
        R"("__metadata__": "a" is a JSON object and must be a string)");
  CHECK(header(R"({"__metadata__":null})") == R"("__metadata__" is a JSON null and must be an object)");
  CHECK(header("{\"" + std::string(1000, 'n') + "\":1}") ==
        "tensor \"" + std::string(100, 'n') + "...\" is 1 and must be an object");
}

TEST_CASE("safetensors: ignores unknown fields; deep nesting throws") {
  const Folder folder;
  const auto load = [&](const std::string& field, int64_t* numel = nullptr) {
    return message([&] {
      const auto file = load_safetensors(folder.write(
          "x", file_of(R"({"a":{"dtype":"F32",)" + field + R"(,"shape":[0],"data_offsets":[0,0]}})")));
      if (numel) *numel = file.tensors.at("a").numel();
    });
  };
  int64_t numel = -1;
  CHECK(load(R"("more":{"shape":[1.5,{"dtype":null}],"dtype":true},"less":-1)", &numel) == "");
  CHECK(numel == 0);
  CHECK(contains(load(R"("more":{"b":1,"b":1})"), "appears twice"));
  for (const char* level : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 200000; ++i) deep += level;
    CHECK(contains(load("\"more\":" + deep), "is nested more than 64 levels deep"));
    CHECK(message([&] { load_safetensors(folder.write("x", file_of("{\"a\":" + deep))); }) != "");
    CHECK(message([&] { load_safetensors(folder.write("x", file_of(deep))); }) != "");
  }
}

TEST_CASE("safetensors: damaged bytes cause at most an error") {
  const Folder folder;
  save_safetensors(folder / "good", {{"a", ones({2})}, {"b", tensor({1, 0}, boolean)}, {"c", zeros({0})}},
                   {{"k", "v"}});
  const std::string good = read_file(folder / "good");
  const auto load = [&](const std::string& bytes) {
    return message([&] { load_safetensors(folder.write("x", bytes)); });
  };
  each_damage(good, [&](const std::string& bad) { CHECK((load(bad) != "" || bad.size() == good.size())); });
  CHECK(load(good + " ") != "");
  CHECK(load(good) == "");
}

TEST_CASE("safetensors: a save that throws leaves the old file") {
  const Folder folder;
  const std::string path = folder.write("x", "old");
  const auto refused = [&](const StateDict& tensors, const Metadata& metadata = {}) {
    return message([&] { save_safetensors(path, tensors, metadata); });
  };
  CHECK(refused({{"a\xff", ones({1})}}) == "save_safetensors: the name \"a<FF>\" is not UTF-8");
  CHECK(refused({}, {{"k", "\xc0\xaf"}}).ends_with(" is not UTF-8"));
  CHECK(refused({}, {{"\xed\xa0\x80", "v"}}).ends_with(" is not UTF-8"));
  CHECK(refused({{"a", Tensor()}}) == "save_safetensors: tensor \"a\" is undefined");
  CHECK(refused({{"__metadata__", ones({1})}}) ==
        "save_safetensors: a tensor cannot be called __metadata__, the place of the metadata");
  CHECK_ERROR(save_safetensors(path + "/y", {}),
              "save_safetensors: " + path + "/y: cannot be written: Not a directory");
  CHECK(read_file(path) == "old");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("safetensors: saves and loads a module") {
  struct Tied : Layer<Tied> {
    Tensor forward(const Tensor& x) const { return head(x); }
    void visit(Visitor& v) override {
      v("head", head);
      v("embedding", head.weight);
      v("steps", steps);
    }
    Linear head{3, 2};
    Buffer steps{full({}, 7, int64)};
  };
  const Folder folder;
  const std::string path = folder / "model.safetensors";
  Tied model, other;
  model.steps = full({}, 9, int64);
  save_safetensors(path, model.state_dict());
  const StateDict state = load_safetensors(path).tensors;
  CHECK(state.size() == 4);
  CHECK(bytes_of(state.at("embedding")) == bytes_of(state.at("head.weight")));
  other.load_state_dict(state);
  CHECK(bytes_of(other.head.weight) == bytes_of(model.head.weight));
  CHECK(bytes_of(other.head.bias) == bytes_of(model.head.bias));
  CHECK(other.steps.item() == 9);

  Linear wider(4, 2);
  const std::string before = bytes_of(wider.weight);
  CHECK_ERROR(wider.load_state_dict(load_safetensors(path).tensors),
              "load_state_dict: 6 names do not fit Linear; nothing was changed\n"
              "              name         model   given\n"
              "  missing     weight       [2, 4]  -\n"
              "  missing     bias         [2]     -\n"
              "  unexpected  embedding    -       [2, 3]\n"
              "  unexpected  head.bias    -       [2]\n"
              "  unexpected  head.weight  -       [2, 3]\n"
              "  unexpected  steps        -       []\n"
              "were they saved by another model, or by one with other options?");
  CHECK(bytes_of(wider.weight) == before);
}
