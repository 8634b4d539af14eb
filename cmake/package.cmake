# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# `cmake --build <folder> --target package` packs what `cmake --install` puts down, as straggle-<version>.tar.gz and
# libstraggle-dev_<version>_all.deb in the build folder. Nothing has to be compiled for that.
set(CMAKE_SKIP_PACKAGE_ALL_DEPENDENCY ON)

set(CPACK_GENERATOR TGZ)
if(UNIX)
    list(APPEND CPACK_GENERATOR DEB)
endif()
# Only the component straggle goes into these, and it is not divided.
set(CPACK_INSTALL_CMAKE_PROJECTS ${PROJECT_BINARY_DIR} straggle straggle /)
set(CPACK_MONOLITHIC_INSTALL ON)

set(CPACK_PACKAGE_FILE_NAME straggle-${PROJECT_VERSION}) # by default there is a processor in it
set(CPACK_PACKAGE_VENDOR "the straggle authors")
# A distribution would name a person.
set(CPACK_PACKAGE_CONTACT "the straggle authors <straggle-authors@users.noreply.github.com>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/before-packing.cmake)

set(CPACK_DEBIAN_PACKAGE_NAME libstraggle-dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "\
A header-only C++20 library that a scheduler, executor or load balancer
links into itself. It reads the task records that are there already and
says which nodes are slow, which tasks straggle and whether a copy is
worth it.")

include(CPack)

# `cmake --build <folder> --target package_programs` builds the programs and packs them alone:
# straggle_<version>_<architecture>.deb.
if(UNIX AND STRAGGLE_BUILD_EXAMPLES)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/CPackProgramsConfig.cmake @ONLY CONTENT [[
include("@PROJECT_BINARY_DIR@/CPackConfig.cmake")
set(CPACK_GENERATOR DEB)
set(CPACK_INSTALL_CMAKE_PROJECTS "@PROJECT_BINARY_DIR@;straggle;programs;/")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_NAME straggle)
unset(CPACK_DEBIAN_PACKAGE_ARCHITECTURE)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Programs that find slow nodes and straggling tasks")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "\
straggle-rank reads the logs of schedulers and says which nodes are slow,
straggle-watch decides on events as they come, straggle-replay, straggle-backup
and straggle-report show what would have been done and what was.")
]])
    add_custom_target(package_programs
        COMMAND ${CMAKE_CPACK_COMMAND} --config ${PROJECT_BINARY_DIR}/CPackProgramsConfig.cmake
        WORKING_DIRECTORY ${PROJECT_BINARY_DIR} USES_TERMINAL VERBATIM)
endif()
