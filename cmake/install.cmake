# What `cmake --install` puts where, so that others can find_package(heed) or ask pkg-config.
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
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed/${folder})
endforeach()
target_include_directories(heed PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/heed>)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heed)
install(TARGETS heed EXPORT heed ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT heed NAMESPACE heed:: FILE heedTargets.cmake DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/heedConfig.cmake.in ${PROJECT_BINARY_DIR}/heedConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/heedConfig.cmake ${PROJECT_BINARY_DIR}/heedConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindOpenBLASOpenMP.cmake DESTINATION ${package_dir})

# Relative to heed.pc, since the prefix may be chosen as late as by `cmake --install --prefix`.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
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
configure_file(${PROJECT_SOURCE_DIR}/cmake/heed.pc.in ${PROJECT_BINARY_DIR}/heed.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/heed.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# `cpack --config build/release/CPackConfig.cmake` makes libheed-dev_*.deb.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_CONTACT "heed")
  set(CPACK_DEBIAN_PACKAGE_NAME libheed-dev)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  if(HEED_OPENBLAS)
    set(CPACK_DEBIAN_PACKAGE_DEPENDS libopenblas-openmp-dev)
  endif()
  include(CPack)
endif()
