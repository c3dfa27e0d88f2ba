# Defines OpenBLAS::openmp, the OpenBLAS that shares OpenMP's thread pool.
#
# Debian keeps three flavours behind one SONAME, and the system's alternatives decide at run time which one loads. The
# serial flavour gives wrong products when called from several threads, so we link this flavour's own file and put its
# folder on the run path. Elsewhere than on Debian, set OpenBLASOpenMP_LIBRARY and OpenBLASOpenMP_INCLUDE_DIR.
find_library(OpenBLASOpenMP_LIBRARY NAMES openblas
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_DEFAULT_PATH)
find_path(OpenBLASOpenMP_INCLUDE_DIR NAMES cblas.h
  PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_DEFAULT_PATH)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLASOpenMP
  REQUIRED_VARS OpenBLASOpenMP_LIBRARY OpenBLASOpenMP_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "On Debian: apt-get install libopenblas-openmp-dev")
mark_as_advanced(OpenBLASOpenMP_LIBRARY OpenBLASOpenMP_INCLUDE_DIR)

if(OpenBLASOpenMP_FOUND AND NOT TARGET OpenBLAS::openmp)
  cmake_path(GET OpenBLASOpenMP_LIBRARY PARENT_PATH folder)
  add_library(OpenBLAS::openmp SHARED IMPORTED)
  set_target_properties(OpenBLAS::openmp PROPERTIES
    IMPORTED_LOCATION ${OpenBLASOpenMP_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${OpenBLASOpenMP_INCLUDE_DIR}
    INTERFACE_LINK_OPTIONS "LINKER:-rpath,${folder}")  # a link option survives `cmake --install`, a build run path does not
  unset(folder)
endif()
