# Finds Debian's compiler for wasm32-wasi, programs that a browser runs (.ci/setup.sh wasm installs it).
#
#   HEED_WASM_CXX, HEED_WASM_LD   the compiler and the linker
#   HEED_WASM_LIBCXX              the headers of its C++ library
#   HEED_WASM_FOUND               whether all are there
find_program(HEED_WASM_CXX clang++-16 NO_CACHE)
find_program(HEED_WASM_LD wasm-ld-16 NO_CACHE)
file(REAL_PATH "${HEED_WASM_CXX}" prefix)
cmake_path(GET prefix PARENT_PATH prefix)
cmake_path(GET prefix PARENT_PATH prefix)
set(HEED_WASM_LIBCXX ${prefix}/include/wasm32-wasi/c++/v1)
set(HEED_WASM_FOUND ON)
foreach(needed ${HEED_WASM_CXX} ${HEED_WASM_LD} ${HEED_WASM_LIBCXX}/vector /usr/include/wasm32-wasi/stdio.h
    ${prefix}/lib/wasm32-wasi/libc++abi.a ${prefix}/lib/clang/16/lib/wasi/libclang_rt.builtins-wasm32.a)
  if(NOT EXISTS ${needed})
    set(HEED_WASM_FOUND OFF)
  endif()
endforeach()
