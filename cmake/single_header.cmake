# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# The target `single_header`: straggle_all.hpp, alone in a folder of the build tree. It is made for a release and
# tested with every build, but never committed. Needs Python 3 and the list straggle_headers.
include_guard(GLOBAL)

set(straggle_single_header ${PROJECT_BINARY_DIR}/single_header/straggle_all.hpp)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/single_header)
add_custom_command(
    OUTPUT ${straggle_single_header}
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/packaging/single_header.py ${straggle_single_header}
    DEPENDS ${PROJECT_SOURCE_DIR}/packaging/single_header.py ${PROJECT_SOURCE_DIR}/LICENSE ${straggle_headers}
    COMMENT "Making straggle_all.hpp"
    VERBATIM)
# Takes a fraction of a second.
add_custom_target(single_header ALL DEPENDS ${straggle_single_header})
