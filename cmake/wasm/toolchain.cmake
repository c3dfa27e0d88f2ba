# Compiles for wasm32-wasi: examples/playground/wasm/ uses it. A program is a reactor: a library that JavaScript calls.
include(${CMAKE_CURRENT_LIST_DIR}/compiler.cmake)
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_CXX_COMPILER ${HEED_WASM_CXX})
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# Vectors of 128 bits, which all browsers have since 2023, and older instructions. Unused functions are left out, and so is
# what a throw would clean up, since nothing catches.
set(CMAKE_CXX_FLAGS_INIT "-msimd128 -mbulk-memory -mnontrapping-fptoint -Wno-unused-command-line-argument \
-fvisibility=hidden -ffunction-sections -fdata-sections -fignore-exceptions \
-nostdinc++ -isystem ${CMAKE_CURRENT_LIST_DIR}/include -isystem ${HEED_WASM_LIBCXX}")
# Smaller than -O3 by a tenth, and nearly as fast.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
# A stack at the start of memory that overflows into an error. -O0: else the driver would run any wasm-opt that is installed.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-O0 -mexec-model=reactor -fuse-ld=${HEED_WASM_LD} \
-Wl,--gc-sections,--strip-all,--stack-first,-z,stack-size=1048576")
cmake_path(GET HEED_WASM_LIBCXX PARENT_PATH libraries)
string(REGEX REPLACE "/include/wasm32-wasi.*" "/lib/wasm32-wasi" libraries "${libraries}")
string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -L${libraries}")
