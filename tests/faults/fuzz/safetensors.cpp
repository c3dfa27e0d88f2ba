// Any file is read or throws. Saving and loading again must give the same.

#include "nn/files/safetensors.h"

#include "tensor/create.h"
#include "tests/faults/fuzz/fuzz.h"

using namespace heed;

void seeds(const std::function<void(std::string_view)>& add) {
  save_safetensors(scratch(), {{"a", zeros({2, 3})}, {"b.c", zeros({2}, int64)}, {"d", zeros({}, boolean)}},
                   {{"words", "x y"}});
  add(contents(scratch()));
}

void run(std::string_view bytes) {
  const Safetensors read = load_safetensors(MemoryFile(bytes).path());
  save_safetensors(scratch(), read.tensors, read.metadata);
  const std::string written = contents(scratch());
  const Safetensors again = load_safetensors(scratch());
  save_safetensors(scratch(), again.tensors, again.metadata);
  expect(contents(scratch()) == written, "saved and loaded, it differs");
}
