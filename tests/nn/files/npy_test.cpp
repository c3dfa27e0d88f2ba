#include "nn/files/npy.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

// A file with this header, unpadded, and these values.
static std::string npy(const std::string& header, const std::string& values, char major = 1) {
  std::string file = "\x93NUMPY";
  file += {major, 0, static_cast<char>(header.size()), 0};
  if (major > 1) file += std::string(2, '\0');
  return file + header + values;
}

TEST_CASE("npy: the bytes of a small file") {
  const Folder folder;
  save_npy(folder / "x.npy", tensor({{1, 2, 3}}));
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }";
  CHECK(read_file(folder / "x.npy") == std::string("\x93NUMPY\1\0\x76\0", 10) + header +
                                           std::string(128 - 10 - 1 - header.size(), ' ') + "\n" +
                                           std::string("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40", 12));
}

TEST_CASE("npy: saves and loads every bit") {
  const Folder folder;
  const Tensor wide = tensor({{1, kNaN, -0.0}, {kInf, 5e-324, -kInf}}, float64);
  for (const Tensor& x :
       {wide, tensor({1.5, -0.0}), tensor(3, int64), tensor({{1, 0}, {0, 1}}, boolean), zeros({0, 3}),
        zeros({2, 0}), from_vector<int64_t>({INT64_MIN, INT64_MAX}, {2}), ones({1, 1, 1, 1, 1, 1, 1, 2})}) {
    save_npy(folder / "x.npy", x);
    const Tensor y = load_npy(folder / "x.npy");
    CHECK(y.dtype() == x.dtype());
    CHECK(y.shape() == x.shape());
    CHECK(bytes_of(y) == bytes_of(x));
  }
  save_npy(folder / "x.npy", TensorImpl::view(wide, {3, 2}, {1, 3}, 0));  // transposed
  const Tensor y = load_npy(folder / "x.npy");
  CHECK(y.shape() == Shape{3, 2});
  CHECK(TensorImpl::view(y, {}, {}, 1).item() == kInf);
}

TEST_CASE("npy: versions, header variants, and column-major order") {
  const Folder folder;
  const auto load = [&](const std::string& bytes) { return load_npy(folder.write("x.npy", bytes)); };
  const std::string two = std::string("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16);
  for (const char* header : {"{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n",
                             "{\"shape\":(2,),\"descr\":\"<i8\",\"fortran_order\":True}",
                             "{ 'descr' : '<i8','shape':( 2 , ) , 'fortran_order':False } \n",
                             "{'descr': '<i8', 'fortran_order': False, 'shape': (2L,), }\n",  // Python 2
                             "{'descr': '<i8', 'fortran_order': False, 'shape': (1L, 2L)}"})
    for (const char major : {1, 2, 3}) CHECK(values(load(npy(header, two, major))) == Values{1, 2});
  const Tensor x =
      load(npy("{'descr': '|b1', 'fortran_order': True, 'shape': (2, 3), }", std::string("\1\0\0\1\1\1", 6)));
  CHECK(x.is_contiguous());
  CHECK(values(x) == Values{1, 0, 1, 0, 1, 1});
}

TEST_CASE("npy: other integers become int64, and float16 float32") {
  const Folder folder;
  const auto load = [&](const std::string& descr, const std::string& values) {
    return load_npy(folder.write(
        "x.npy", npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (2,), }", values)));
  };
  const std::vector<std::tuple<const char*, std::string, Values>> cases = {
      {"|u1", "\xff\7", {255, 7}},
      {"|i1", "\xff\7", {-1, 7}},
      {"<i4", std::string("\xfe\xff\xff\xff\0\0\0\x80", 8), {-2, -2147483648.0}},
      {"<u4", "\xff\xff\xff\xff\1\1\1\1", {4294967295.0, 16843009}},
      {"<i2", "\xff\xff\1\1", {-1, 257}},
      {"<u2", "\xff\xff\1\1", {65535, 257}},
      {"<f2", std::string("\0\x3c\0\xfc", 4), {1, -kInf}},
  };
  for (const auto& [descr, bytes, wanted] : cases) {
    const Tensor x = load(descr, bytes);
    CHECK(x.dtype() == (descr[1] == 'f' ? float32 : int64));
    CHECK(values(x) == wanted);
  }
}

TEST_CASE("npy: errors of malformed files have the position of the byte") {
  const Folder folder;
  const std::string path = folder / "x.npy";
  const auto why = [&](const std::string& bytes) {
    folder.write("x.npy", bytes);
    const std::string text = message([&] { load_npy(path); }), start = "load_npy: " + path + ": ";
    REQUIRE(text.starts_with(start));
    return text.substr(start.size());
  };
  const std::string four(4, '\0');
  const auto header = [&](const std::string& text) { return why(npy(text, four)); };

  CHECK(why("") == "is not a .npy file");
  CHECK(why("PK\3\4zip.file").starts_with("is not a .npy file; it looks like a zip archive"));
  CHECK(why("\x93NUMPY\4\1") == "has version 4.1; supported are 1.0, 2.0 and 3.0");
  CHECK(why(std::string("\x93NUMPY\1\0\1", 9)) == "ends too early: 2 bytes are needed, and 1 are left");
  CHECK(why(std::string("\x93NUMPY\2\0\xff\xff\xff\xff{", 13)) ==
        "its header takes 4294967295 bytes, and 1 are left in the file");
  CHECK(header("") == "byte 10: expected '{'");
  CHECK(header("{}") == "the header must contain descr, fortran_order and shape");
  CHECK(header("{'descr': '<f4', 'shape': (1,)}") ==
        "the header must contain descr, fortran_order and shape");
  CHECK(header("{descr: 1}") == "byte 11: expected a string in quotes");
  CHECK(header("{'descr") == "byte 12: expected a closing quote");
  CHECK(header("{'descr' '<f4'}") == "byte 19: expected ':'");
  CHECK(header("{'descr': '<f4' 'shape': ()}") == "byte 26: expected '}'");
  CHECK(header("{'descr': '<f4', 'descr': '<f4'}") ==
        "byte 41: expected another key: this one appears twice");
  CHECK(header("{'order': 1}") == "byte 19: expected 'descr', 'fortran_order' or 'shape'");
  CHECK(header("{'fortran_order': 1}") == "byte 28: expected True or False");
  CHECK(header("{'shape': [1]}") == "byte 20: expected '('");
  CHECK(header("{'shape': (3)}") == "byte 22: expected ',': a single size is written (3,)");
  for (const char* size :
       {"-1", "01", "9223372036854775808", ",", "x", "1,,", "1.0", "1 2", "L", "1LL", "1l"})
    CHECK(contains(header(std::string("{'shape': (2, ") + size + ")}"), "expected"));
  CHECK(header("{'descr': '<f4', 'fortran_order': False, 'shape': ()} x") ==
        "byte 64: expected the end of the header");
  const auto fits = [&](const std::string& descr, const std::string& shape) {
    return header("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + "}");
  };
  for (const char* descr : {">f4", ""})
    CHECK(fits(descr, "(1,)") == "descr '" + std::string(descr) +
                                     "' is none of <f4, <f8, <i8, |b1, <f2, |i1, <i2, <i4, |u1, <u2, <u4; "
                                     "convert with x.astype in NumPy");
  for (const char* shape : {"(2,)", "(0,)", "(4611686018427387904, 4)"})
    CHECK(contains(fits("<f4", shape), "] of <f4 does not fit the 4 bytes of values"));
  CHECK(fits("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)") == "byte 85: expected at most 8 dimensions");
  CHECK(why(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", "\3")) ==
        "element 0 is a bool stored as 3; it must be 0 or 1");
  CHECK_ERROR(save_npy(path, Tensor()), "save_npy: " + path + ": the tensor is undefined");
}

TEST_CASE("npy: damaged bytes cause at most an error") {
  const Folder folder;
  const std::string good =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }", std::string(4, '\1'));
  each_damage(good, [&](const std::string& bad) { message([&] { load_npy(folder.write("x.npy", bad)); }); });
}
