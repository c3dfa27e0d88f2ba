# An overlay port of these sources: vcpkg install heed --overlay-ports=cmake/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES json HEED_JSON)
# vcpkg's own OpenBLAS has other threads than heed's: see cmake/FindOpenBLASOpenMP.cmake.
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS ${features} -DHEED_OPENBLAS=OFF
  -DHEED_BUILD_TESTS=OFF -DHEED_BUILD_EXAMPLES=OFF -DHEED_BUILD_BENCH=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/heed)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
