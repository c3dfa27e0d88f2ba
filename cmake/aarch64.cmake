# Cross-compiles for 64-bit ARM with Debian's g++-aarch64-linux-gnu and runs the tests under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

# Of the libraries, those that are headers only, copied: /usr/include has headers of this machine's C library too.
set(headers ${CMAKE_BINARY_DIR}/headers)
if(NOT EXISTS ${headers})
  file(COPY /usr/include/doctest /usr/include/nlohmann /usr/include/CLI DESTINATION ${headers}/include)
  file(GLOB packages /usr/share/cmake/* /usr/lib/cmake/*)
  list(FILTER packages INCLUDE REGEX "/(doctest|nlohmann_json|CLI11)$")
  file(COPY ${packages} DESTINATION ${headers}/lib/cmake)
endif()
set(CMAKE_FIND_ROOT_PATH ${headers} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
