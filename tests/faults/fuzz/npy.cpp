// Any file is read or throws. Saving and loading again must give the same.

#include "nn/files/npy.h"

#include "tensor/create.h"
#include "tests/faults/fuzz/fuzz.h"

using namespace heed;

void seeds(const std::function<void(std::string_view)>& add) {
  for (const DType dtype : {float32, float64, int64, boolean})
    for (const Shape& shape : {Shape(), Shape({3}), Shape({2, 3})}) {
      save_npy(scratch(), ones(shape, dtype));
      std::string file = contents(scratch());
      add(file);
      file.replace(file.find("False"), 5, "True ");
      add(file);
    }
}

void run(std::string_view bytes) {
  save_npy(scratch(), load_npy(MemoryFile(bytes).path()));
  const std::string written = contents(scratch());
  save_npy(scratch(), load_npy(scratch()));
  expect(contents(scratch()) == written, "saved and loaded, it differs");
}
