# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# An overlay port: it lies in the source tree and packages that tree, whatever it holds now. The port of a release, as
# the public registry takes it, is packaging/vcpkg-registry.
cmake_path(SET SOURCE_PATH NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../..")
# vcpkg takes a package from its binary cache as long as the files of the port are the same, and does not know of
# those of the tree: who changes headers installs with --no-binarycaching.

vcpkg_check_features(OUT_FEATURE_OPTIONS options_of_features FEATURES compiled STRAGGLE_INSTALL_COMPILED)
if(NOT "compiled" IN_LIST FEATURES)
    set(VCPKG_BUILD_TYPE release) # header-only: there is one build
endif()

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DSTRAGGLE_BUILD_TESTS=OFF
        -DSTRAGGLE_BUILD_EXAMPLES=OFF
        ${options_of_features}
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/straggle)
vcpkg_fixup_pkgconfig()

# The license is installed below, where vcpkg looks for it.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/licenses" "${CURRENT_PACKAGES_DIR}/debug/include"
                    "${CURRENT_PACKAGES_DIR}/debug/share")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
