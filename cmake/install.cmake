# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# What `cmake --install` puts down: headers, a CMake package and straggle.pc, and with STRAGGLE_INSTALL_COMPILED the
# library of straggle::compiled. All of it is independent of the place: the whole tree may be moved afterwards. All but
# that library is independent of the architecture.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(straggle_package_dir ${CMAKE_INSTALL_DATADIR}/cmake/straggle)
set(straggle_pkgconfig_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)

install(TARGETS straggle EXPORT straggle COMPONENT straggle
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT straggle)
set(straggle_arch_independent ARCH_INDEPENDENT)
if(STRAGGLE_INSTALL_COMPILED)
    set(straggle_arch_independent "")
    set_target_properties(straggle_compiled PROPERTIES EXCLUDE_FROM_ALL OFF)
    install(TARGETS straggle_compiled EXPORT straggle COMPONENT straggle
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT straggle)
endif()
# There are no dependencies to find, so the exported targets are the whole package configuration.
install(EXPORT straggle FILE straggleConfig.cmake NAMESPACE straggle::
        DESTINATION ${straggle_package_dir} COMPONENT straggle)

# Before 1.0 a minor version may break its users.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/straggleConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion ${straggle_arch_independent})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/straggleConfigVersion.cmake
        DESTINATION ${straggle_package_dir} COMPONENT straggle)

# straggle.pc finds the headers from its own place. An absolute include directory stays absolute.
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(straggle_pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
else()
    set(straggle_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_DATADIR}")
    set(straggle_pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
    file(RELATIVE_PATH straggle_pc_up /prefix/${straggle_pkgconfig_dir} /prefix)
    string(REGEX REPLACE "/$" "" straggle_pc_up "${straggle_pc_up}")
    set(straggle_pc_prefix "\${pcfiledir}/${straggle_pc_up}")
endif()
configure_file(cmake/straggle.pc.in straggle.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/straggle.pc
        DESTINATION ${straggle_pkgconfig_dir} COMPONENT straggle)

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/straggle COMPONENT straggle)
