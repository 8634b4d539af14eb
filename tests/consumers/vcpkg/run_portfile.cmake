# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Runs the portfile where there is no vcpkg:
#   cmake -D PACKAGE=<folder> -D BUILDTREES=<folder> -D VERSION=... -D GENERATOR=... -D MAKE_PROGRAM=...
#         -D COMPILER=... -P run_portfile.cmake
# The functions are stand-ins of ours, not those of vcpkg: each does what the documentation of vcpkg says of it as far
# as this port needs it. Whether vcpkg itself takes the port is seen by the test "consumer: vcpkg", where it is
# installed.
cmake_minimum_required(VERSION 3.24)

cmake_path(SET port_dir NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../../packaging/vcpkg/straggle")
set(PORT straggle)
set(CURRENT_PORT_DIR ${port_dir})
set(CURRENT_PACKAGES_DIR ${PACKAGE})
set(CURRENT_BUILDTREES_DIR ${BUILDTREES})
set(CURRENT_INSTALLED_DIR ${BUILDTREES}/installed)
file(REMOVE_RECURSE ${PACKAGE} ${BUILDTREES})

# rel and, unless the port is for release only, dbg.
macro(set_builds)
    set(builds rel)
    if(NOT VCPKG_BUILD_TYPE STREQUAL "release")
        list(APPEND builds dbg)
    endif()
endmacro()

# The features that are asked for are in FEATURES: none here.
function(vcpkg_check_features)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
    list(LENGTH arg_FEATURES words)
    if(arg_UNPARSED_ARGUMENTS OR NOT words EQUAL 2)
        message(FATAL_ERROR "vcpkg_check_features: one feature with its option is known here: ${ARGV}")
    endif()
    list(GET arg_FEATURES 1 option)
    set(${arg_OUT_FEATURE_OPTIONS} -D${option}=OFF PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCE_PATH)
        message(FATAL_ERROR "vcpkg_cmake_configure: no SOURCE_PATH, or not known here: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    set_builds()
    foreach(build IN LISTS builds)
        set(type Release)
        set(prefix ${CURRENT_PACKAGES_DIR})
        if(build STREQUAL "dbg")
            set(type Debug)
            string(APPEND prefix /debug)
        endif()
        execute_process(COMMAND ${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${CURRENT_BUILDTREES_DIR}/${build}
                                -G ${GENERATOR} -D CMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} -D CMAKE_CXX_COMPILER=${COMPILER}
                                -D CMAKE_BUILD_TYPE=${type} -D CMAKE_INSTALL_PREFIX=${prefix}
                                -D CMAKE_INSTALL_LIBDIR:STRING=lib -D CMAKE_INSTALL_BINDIR:STRING=bin
                                ${arg_OPTIONS}
                        OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
endfunction()

function(vcpkg_cmake_install)
    set_builds()
    foreach(build IN LISTS builds)
        execute_process(COMMAND ${CMAKE_COMMAND} --build ${CURRENT_BUILDTREES_DIR}/${build} --target install
                        OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
endfunction()

# Moves the package configuration to share/<port>, two folders below the prefix, and corrects what it says of that.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
    if(arg_UNPARSED_ARGUMENTS OR NOT EXISTS "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}")
        message(FATAL_ERROR "vcpkg_cmake_config_fixup: nothing at CONFIG_PATH ${arg_CONFIG_PATH}, "
                            "or not known here: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    set(old ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH})
    set(new ${CURRENT_PACKAGES_DIR}/share/${PORT})
    file(GLOB files ${old}/*)
    file(COPY ${files} DESTINATION ${new})
    file(REMOVE_RECURSE ${old})
    cmake_path(GET old PARENT_PATH parent)
    if(parent MATCHES "/cmake$")
        file(REMOVE_RECURSE ${parent})
    endif()
    set(up "\nget_filename_component\\(_IMPORT_PREFIX \"\\\${_IMPORT_PREFIX}\" PATH\\)")
    set(up_twice "\nget_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)")
    string(APPEND up_twice "${up_twice}")
    file(GLOB files ${new}/*.cmake)
    foreach(file IN LISTS files)
        file(READ ${file} text)
        string(REGEX REPLACE "(${up})+" "${up_twice}" text "${text}")
        string(REPLACE "${CURRENT_PACKAGES_DIR}" "\${_IMPORT_PREFIX}" text "${text}")
        file(WRITE ${file} "${text}")
    endforeach()
endfunction()

# The prefix becomes relative to the file, whatever it was.
function(vcpkg_fixup_pkgconfig)
    file(GLOB_RECURSE files ${CURRENT_PACKAGES_DIR}/*.pc)
    foreach(file IN LISTS files)
        cmake_path(GET file PARENT_PATH folder)
        file(RELATIVE_PATH up ${folder} ${CURRENT_PACKAGES_DIR})
        string(REGEX REPLACE "/$" "" up "${up}")
        file(READ ${file} text)
        string(REGEX REPLACE "(^|\n)prefix=[^\n]*" "\\1prefix=\${pcfiledir}/${up}" text "${text}")
        string(REPLACE "${CURRENT_PACKAGES_DIR}" "\${prefix}" text "${text}")
        file(WRITE ${file} "${text}")
    endforeach()
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "COMMENT" "FILE_LIST")
    list(LENGTH arg_FILE_LIST files)
    if(arg_UNPARSED_ARGUMENTS OR NOT files EQUAL 1)
        message(FATAL_ERROR "vcpkg_install_copyright: one file is known here: ${ARGV}")
    endif()
    file(MAKE_DIRECTORY ${CURRENT_PACKAGES_DIR}/share/${PORT})
    file(COPY_FILE ${arg_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright)
endfunction()

include(${port_dir}/portfile.cmake)

# As after the portfile in vcpkg: the checks, and the policies a port can set to get round them.
get_cmake_property(variables VARIABLES)
list(FILTER variables INCLUDE REGEX "^VCPKG_POLICY_")
if(variables)
    message(FATAL_ERROR "the port gets round checks of vcpkg: ${variables}")
endif()
include(${CMAKE_CURRENT_LIST_DIR}/post_build_checks.cmake)
post_build_complaints(complaints ${PACKAGE} ${PORT} ${port_dir} ${BUILDTREES})
if(complaints)
    list(JOIN complaints "\n" complaints)
    message(FATAL_ERROR "${complaints}")
endif()
prove_that_the_checks_can_fail(${PACKAGE} ${PORT} ${port_dir} ${BUILDTREES})
