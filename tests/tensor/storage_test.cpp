#include "tensor/storage.h"

#include "tests/support/expect.h"

TEST_CASE("storage is aligned and not shared") {
  for (const int64_t bytes : {0, 1, 63, 64, 65, 4096, 1 << 20}) {
    const Ref<Storage> a = Storage::make(bytes), b = Storage::make(bytes);
    CHECK(a->bytes == bytes);
    CHECK(reinterpret_cast<uintptr_t>(a->data) % 64 == 0);
    CHECK(a->data != b->data);
    CHECK(a->references.value() == 1);
  }
}

TEST_CASE("a write records its name, its line and a new version") {
  const Ref<Storage> storage = Storage::make(8);
  CHECK(storage->version == 0);
  CHECK(storage->writer == nullptr);
  storage->wrote("add_", std::source_location::current());
  CHECK(storage->version == 1);
  CHECK(std::string(storage->writer) == "add_");
  CHECK(storage->writer_line.line() == __LINE__ - 3);

  const Tensor x = Tensor::empty({3}), view = x.detach();
  CHECK(TensorImpl::of(x).storage->version == 0);
  view.mutable_data<float>();  // views share the version of their storage
  CHECK(TensorImpl::of(x).storage->version == 1);
  CHECK(std::string(TensorImpl::of(x).storage->writer) == "mutable_data");
  CHECK(TensorImpl::of(x).storage->writer_line.line() == __LINE__ - 3);
  x.data<float>();
  CHECK(TensorImpl::of(x).storage->version == 1);
}
