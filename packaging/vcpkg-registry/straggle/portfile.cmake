# The sum is that of the archive of the tag: fill it in when the tag is there (vcpkg prints it), see CONTRIBUTING.md.
vcpkg_from_github(
    OUT_SOURCE_PATH SOURCE_PATH
    REPO straggle-authors/straggle
    REF "v${VERSION}"
    SHA512 0
    HEAD_REF main
)

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
