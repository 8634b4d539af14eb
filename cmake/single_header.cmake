# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# The target `single_header`: straggle_all.hpp, alone in a folder of the build tree. It is made for a release and
# tested with every build, but never committed. Needs the list straggle_headers.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT Python3_FOUND)
    message(STATUS "straggle: the target single_header is left out (it needs Python 3)")
    return()
endif()

set(straggle_single_header ${PROJECT_BINARY_DIR}/single_header/straggle_all.hpp)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/single_header)
add_custom_command(
    OUTPUT ${straggle_single_header}
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/packaging/single_header.py ${straggle_single_header}
    DEPENDS ${PROJECT_SOURCE_DIR}/packaging/single_header.py ${PROJECT_SOURCE_DIR}/LICENSE ${straggle_headers}
    COMMENT "Making straggle_all.hpp"
    VERBATIM)
add_custom_target(single_header DEPENDS ${straggle_single_header})
