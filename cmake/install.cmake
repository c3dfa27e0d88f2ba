# What `cmake --install` puts where, so that others can find_package(heed) or ask pkg-config.
# The archive keeps the preset's instruction set: install `portable` for other machines, `release` for this one.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Kernels are not part of the interface; tests/structure_test.cpp checks that no installed header needs one.
file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/heed/*.h)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/tensor/*.h ${PROJECT_SOURCE_DIR}/autograd/*.h ${PROJECT_SOURCE_DIR}/nn/*.h)
list(FILTER headers EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/tensor/kernels/")
target_sources(heed PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
  FILES ${PROJECT_SOURCE_DIR}/heed.h ${parts} ${headers})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heed)
install(TARGETS heed EXPORT heed
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed)
install(EXPORT heed NAMESPACE heed:: FILE heedTargets.cmake DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/heedConfig.cmake.in ${PROJECT_BINARY_DIR}/heedConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/heedConfig.cmake ${PROJECT_BINARY_DIR}/heedConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindOpenBLASOpenMP.cmake DESTINATION ${package_dir})

# Relative to heed.pc, since the prefix may be chosen as late as by `cmake --install --prefix`.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
cmake_path(GET OpenBLASOpenMP_LIBRARY PARENT_PATH pc_openblas_dir)
configure_file(${PROJECT_SOURCE_DIR}/cmake/heed.pc.in ${PROJECT_BINARY_DIR}/heed.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/heed.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
