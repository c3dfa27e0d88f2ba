# What `cmake --install` puts where, so that others can find_package(heed) or ask pkg-config; and the Debian package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Of the kernels, only what makes loops of formulas is part of the interface; tests/structure_test.cpp checks that no
# installed header needs another.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/heed/*.h
  ${PROJECT_SOURCE_DIR}/tensor/*.h ${PROJECT_SOURCE_DIR}/autograd/*.h ${PROJECT_SOURCE_DIR}/nn/*.h)
list(FILTER headers EXCLUDE REGEX "^tensor/kernels/")
foreach(header heed.h ${headers} tensor/kernels/level.h tensor/kernels/loop.h tensor/kernels/map.h tensor/kernels/math.h
        tensor/kernels/reduce.h)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed/${folder} COMPONENT headers)
endforeach()
target_include_directories(heed PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/heed>)

set(package ${PROJECT_BINARY_DIR}/package)
if(NOT HEED_MPI)
  set(HEED_MPI OFF)  # it is not an option where heed is cross-compiled
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/heedConfig.cmake.in ${package}/heedConfig.cmake @ONLY)
write_basic_package_version_file(${package}/heedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
set(pc_definitions "")
set(pc_libraries "")
if(HEED_LEVELS)
  string(APPEND pc_definitions " -DHEED_LEVELS")
endif()
if(HEED_OPENMP)
  string(APPEND pc_libraries " ${OpenMP_CXX_FLAGS}")
endif()
if(HEED_OPENBLAS)
  cmake_path(GET OpenBLASOpenMP_LIBRARY PARENT_PATH folder)
  string(APPEND pc_libraries " ${OpenBLASOpenMP_LIBRARY} -Wl,-rpath,${folder}")
endif()

if(HEED_MPI)
  string(APPEND pc_libraries " ${mpi_flags}")
endif()

# The archive and what finds it, below the folder libdir: heed_install(libdir COMPONENT component arguments...)
function(heed_install libdir)
  set(export heed_${ARGV2})
  install(TARGETS heed heed_needs EXPORT ${export} ARCHIVE DESTINATION ${libdir} ${ARGN})
  install(EXPORT ${export} NAMESPACE heed:: FILE heedTargets.cmake DESTINATION ${libdir}/cmake/heed ${ARGN})
  install(FILES ${package}/heedConfig.cmake ${package}/heedConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/FindOpenBLASOpenMP.cmake DESTINATION ${libdir}/cmake/heed ${ARGN})
  # Relative to heed.pc, since the prefix may be chosen as late as by `cmake --install --prefix`.
  file(RELATIVE_PATH pc_prefix /usr/${libdir}/pkgconfig /usr)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/heed.pc.in ${package}/${libdir}/heed.pc @ONLY)
  install(FILES ${package}/${libdir}/heed.pc DESTINATION ${libdir}/pkgconfig ${ARGN})
endfunction()
heed_install(${CMAKE_INSTALL_LIBDIR} COMPONENT libraries)

# `cpack --config build/release/CPackConfig.cmake` makes libheed-dev_*.deb. Debian has another folder for libraries than
# `cmake --install`, so there are install rules for both.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_LIBRARY_ARCHITECTURE)
  heed_install(lib/${CMAKE_LIBRARY_ARCHITECTURE} COMPONENT debian EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright DESTINATION share/doc/libheed-dev COMPONENT debian
    EXCLUDE_FROM_ALL)
  set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};heed;headers;/;${PROJECT_BINARY_DIR};heed;debian;/")
  set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_PACKAGE_CONTACT "The heed authors <heed@localhost>")
  set(CPACK_DEBIAN_PACKAGE_NAME libheed-dev)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  string(REGEX REPLACE "^A " "" CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
  set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Tensors with automatic differentiation, neural network layers, attention and
optimizers for C++20: headers, a static library, and the files by which
CMake and pkg-config find them.")
  # The archive needs a C++ library that is no older than its compiler's.
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "g++")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    string(REGEX MATCH "^[0-9]+" major ${CMAKE_CXX_COMPILER_VERSION})
    set(CPACK_DEBIAN_PACKAGE_DEPENDS "g++ (>= 4:${major})")
  endif()
  if(HEED_OPENBLAS)
    string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libopenblas-openmp-dev")
  endif()
  if(HEED_MPI)
    string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libopenmpi-dev")
  endif()
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, pkgconf")
  include(CPack)
endif()
