# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Writes a header, HEADER, with all that some files, SOURCES, include.
set(lines "#pragma once")
foreach(source IN LISTS SOURCES)
    cmake_path(GET source PARENT_PATH folder)
    file(STRINGS ${source} includes REGEX "^#include ")
    foreach(include IN LISTS includes)
        # Which file is meant depends on where the line is.
        string(REGEX REPLACE "^#include \"(.*)\"$" "${folder}/\\1" file "${include}")
        if(EXISTS "${file}")
            set(include "#include \"${file}\"")
        endif()
        list(APPEND lines "${include}")
    endforeach()
endforeach()
list(REMOVE_DUPLICATES lines)
list(JOIN lines "\n" text)
file(WRITE ${HEADER} "${text}\n")
