#include "nn/files/file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace fs = std::filesystem;

namespace {

int64_t files_in(const Folder& folder) {
  return std::distance(fs::directory_iterator(folder.path), fs::directory_iterator());
}

// Files cannot grow beyond `bytes` while this exists, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit less{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("write_file: writes a complete file or none") {
  const Folder folder;
  const std::string path = folder / "a";
  write_file(path, "old");
  CHECK(read_file(path) == "old");
  {
    FileWriter file("save", path);
    file.write("new");
    CHECK(read_file(path) == "old");
  }  // without finish(), as after an exception
  CHECK(read_file(path) == "old");
  CHECK(files_in(folder) == 1);
  {
    const FullDisk full(1000);
    CHECK_ERROR(write_file(path, std::string(1001, 'x')),
                "write_file: " + path + ": cannot be written: File too large");
  }
  CHECK(read_file(path) == "old");
  CHECK(files_in(folder) == 1);
  write_file(path, "new");
  CHECK(read_file(path) == "new");
  CHECK(files_in(folder) == 1);
}

TEST_CASE("write_file: an error has a reason and leaves no file") {
  const Folder folder;
  const auto refused = [&](const std::string& path) {
    const std::string text = message([&] { write_file(path, "x"); });
    REQUIRE(text.starts_with("write_file: " + path + ": cannot be written: "));
    return text.substr(text.rfind(": ") + 2);
  };
  fs::create_directory(folder / "folder");
  CHECK(refused(folder / "folder") == "Is a directory");
  CHECK(refused(folder / "none/a") == "No such file or directory");
  folder.write("a", "old");
  CHECK(refused(folder / "a/b") == "Not a directory");
  CHECK(refused("/dev/full") == "No space left on device");
  if (geteuid() != 0) {  // root may write anywhere
    fs::permissions(folder.path, fs::perms::owner_write, fs::perm_options::remove);
    CHECK(refused(folder / "a") == "Permission denied");
    fs::permissions(folder.path, fs::perms::owner_write, fs::perm_options::add);
  }
  CHECK(read_file(folder / "a") == "old");
  CHECK(files_in(folder) == 2);
}

TEST_CASE("write_file: keeps the permissions of the old file and follows links") {
  const Folder folder;
  folder.write("a", "old");
  fs::permissions(folder / "a", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("a", folder / "link");
  write_file(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read_file(folder / "a") == "new");
  CHECK(fs::status(folder / "a").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("FileReader: throws beyond the end, and for files that are not regular") {
  const Folder folder;
  FileReader file("load", folder.write("a", "abcdef"));
  CHECK(file.left() == 6);
  CHECK(file.read(2, "a start") == "ab");
  CHECK(file.left() == 4);
  const std::string path = folder / "a";
  CHECK_ERROR(file.read(uint64_t{1} << 62, "a rest"),
              "load: " + path + ": a rest takes 4611686018427387904 bytes, and 4 are left in the file");
  char byte[8];
  CHECK_ERROR(file.read(byte, 5), "load: " + path + ": ends too early: 5 bytes are needed, and 4 are left");
  fs::resize_file(path, 3);
  CHECK_ERROR(file.read(byte, 4), "load: " + path + ": became shorter while it was read");

  CHECK_ERROR(FileReader("load", folder / "none"),
              "load: " + folder / "none" + ": cannot be opened: No such file or directory");
  CHECK_ERROR(FileReader("load", folder.path), "load: " + folder.path.string() + ": is a folder");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_ERROR(FileReader("load", folder / "pipe"), "load: " + folder / "pipe" + ": is not a regular file");
}

TEST_CASE("FileWriter and FileReader: tensors are row-major; bools are 0 or 1") {
  const Folder folder;
  const Tensor x = tensor({{1, 2}, {3, 4}}, int64);
  FileWriter file("save", folder / "x");
  file.write(TensorImpl::view(x, {2}, {2}, 1));  // the second column
  file.finish();
  CHECK(read_file(folder / "x") == std::string("\2\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0", 16));

  const std::string path = folder.write("b", std::string("\1\0\2", 3));
  const auto* type = std::ranges::find(stored_types, boolean, &StoredType::dtype);
  CHECK_ERROR(FileReader("load", path).read(*type, {3}, "mask: "),
              "load: " + path + ": mask: element 2 is a bool stored as 2; it must be 0 or 1");
}

TEST_CASE("byte_count: nullopt if it overflows, even with a size of 0") {
  CHECK(byte_count({}, 4) == 4);
  CHECK(byte_count({2, 3}, 8) == 48);
  CHECK(byte_count({2, 0}, 8) == 0);
  CHECK(!byte_count({int64_t{1} << 61}, 4));
  CHECK(!byte_count({0, int64_t{1} << 61, 4}, 1));
}
